// PlanSubject: a training job whose layout is not chosen yet.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/nn/module.h"
#include "api/simulation/predict.h"
#include "api/training/optimizer.h"
#include "distributed/mesh/process_mesh.h"
#include "distributed/planner/job_layout.h"

namespace phi::planning {

/// A training step of a few micro-batches on one rank, made to record what it costs.
struct Trial {
  std::shared_ptr<nn::Layer> model;
  std::function<void()> step;
  std::function<training::StateBytes()> state_bytes;  // after a step
  /// How many layers of the job each chunk of the trial stands for. Their sum is the job's number
  /// of layers that a pipeline distributes; {1} for a job without a pipeline.
  std::vector<int64_t> layers{1};
};

class PlanSubject {
 public:
  virtual ~PlanSubject() = default;

  /// Extents, and keys that the job fixes.
  virtual distributed::LayoutSpace space() const = 0;
  /// Why the job cannot have a layout; nothing if it can, as far as is known without running it.
  virtual std::optional<std::string> refusal(const distributed::JobLayout& layout) const = 0;
  /// Whether the job can have the layout with JobLayout::has_searched_placements, and this changes
  /// a placement.
  virtual bool can_search_placements(const distributed::JobLayout& layout) const;
  /// A trial of `layout`, whose pp is 1, of at most `layers` layers. Called in the dry world of a
  /// rank. If layout.chunks is 0, every layer is a chunk.
  virtual Trial trial(const distributed::JobLayout& layout, int64_t global_batch,
                      int64_t layers) const = 0;
  /// The exact bytes that a rank of the whole job holds and sends, without times.
  virtual simulation::RankTotals totals_of(const distributed::JobLayout& layout,
                                           int64_t rank) const = 0;
  /// The step of the whole job, recorded and simulated, with the memory of each rank.
  virtual simulation::PredictedStep predict(const distributed::JobLayout& layout) const = 0;
};

inline bool PlanSubject::can_search_placements(const distributed::JobLayout&) const {
  return false;
}

}  // namespace phi::planning
