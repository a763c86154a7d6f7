// PlannedModel: a model of one's own as the subject of a plan.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/nn/layout/layout.h"
#include "api/planning/placing/place_layers.h"
#include "api/planning/plan_subject.h"
#include "api/training/trainer.h"

namespace phi::planning {

/// A model that need not say how it is split, and how it is trained.
struct ModelToPlan {
  /// Makes the model, on no mesh. Called once for each rank and layout that is tried.
  std::function<std::shared_ptr<nn::Layer>()> make;
  /// Optional: makes the model with fewer `blocks`, three or less, on which layouts are tried. The
  /// time to plan then does not depend on the number of blocks, but for the finalists. Pins are
  /// tried on the whole model.
  std::function<std::shared_ptr<nn::Layer>(int64_t blocks)> make_short{};
  training::LossFunction loss;
  /// Inputs and labels of a step, of all micro-batches and ranks; dim 0 of both is its samples.
  /// Placeholders will do.
  training::Batch batch;
  /// Options of the trainer. The plan replaces the number of micro-batches, the schedule and the
  /// recomputation.
  training::TrainerOptions options{};
  /// The links of a Sequential that a pipeline distributes. If none matches, there is no pipeline.
  std::string blocks = "block*";
  /// Rows that are fixed. Those of mesh dims that a mesh lacks have no effect on it.
  nn::Layout pins{};
};

/// Everything that a training program needs to run a layout.
struct ModelLayout {
  distributed::ProcessMesh mesh;  // dims dp, pp and tp
  nn::Layout layout;
  training::TrainerOptions options;
};

class PlannedModel final : public PlanSubject {
 public:
  /// `memory_bytes` of a rank, for its tensors; 0: those of the machine. `fixed`: its lists are the
  /// values that may be chosen; all else is set here. `machine` must outlive this. Errors:
  /// InvalidArgument without `make` or `loss`, and for a batch whose inputs and labels differ in
  /// dim 0.
  PlannedModel(ModelToPlan model, int64_t devices,
               const distributed::simulator::MachineModel& machine, int64_t memory_bytes = 0,
               const distributed::LayoutSpace& fixed = {});

  /// Errors: those of place_layers.
  ModelLayout layout_of(const distributed::JobLayout& layout) const;
  /// The placements along tp, which are found once for each extent: those with the least time of a
  /// step of one micro-batch and no pipeline, among those whose weights, gradients and optimizer
  /// states fit into the stages of the longest pipeline.
  const PlacedLayers& placed(int64_t tp) const;

  distributed::LayoutSpace space() const override { return space_; }
  std::optional<std::string> refusal(const distributed::JobLayout& layout) const override;
  Trial trial(const distributed::JobLayout& layout, int64_t global_batch,
              int64_t layers) const override;
  simulation::RankTotals totals_of(const distributed::JobLayout& layout,
                                   int64_t rank) const override;
  simulation::PredictedStep predict(const distributed::JobLayout& layout) const override;

 private:
  struct Placed {
    PlacedLayers tried;  // of the model that layouts are tried on
    PlacedLayers whole;
  };

  const Placed& placed_along(int64_t tp) const;
  PlacedLayers placed_at(int64_t tp, double seconds_per_byte) const;
  nn::Layout placed_of_trial(int64_t tp, int64_t blocks) const;
  bool is_shortened() const;
  std::shared_ptr<nn::Layer> make_tried(int64_t blocks) const;
  ModelLayout on_mesh(const distributed::JobLayout& layout, int64_t chunks,
                      const nn::Layout* placed) const;
  std::function<void()> make_step(const ModelLayout& laid_out) const;

  ModelToPlan model_;
  const distributed::simulator::MachineModel& machine_;
  int64_t room_;  // of a rank, for tensors; 0: unknown
  distributed::LayoutSpace space_;
  std::vector<std::string> blocks_;        // their paths
  std::vector<std::string> tried_blocks_;  // of the short model, if there is one
  bool has_repeats_ = false;
  mutable std::map<int64_t, Placed> placed_;  // by tp
};

}  // namespace phi::planning
