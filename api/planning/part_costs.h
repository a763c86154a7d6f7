// PartCosts: what the layers of a job cost on a machine, from recorded trials. A trial is shared by
// all layouts that have equal layers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "api/planning/plan_subject.h"
#include "distributed/simulator/machine.h"

namespace phi::planning {

struct RecordedTrial;

/// A layer of the job and, at the ends of the model, what comes before or after the layers. Seconds
/// and bytes are those of a rank, for a micro-batch.
struct LayerCost {
  double forward = 0;
  double backward = 0;
  double update = 0;        // of a step
  double issue_passes = 0;  // of the host, for the launches and calls of both passes
  double issue_update = 0;  // of those of the update
  double share = 0;         // of the parameters of the model
  int64_t kept_bytes = 0;   // of activations, from its forward to its backward
  /// Bytes of the operands of weight gradients, from the layer's backward until a zero-bubble
  /// schedule computes these gradients.
  int64_t deferred_bytes = 0;
  int64_t passing_bytes = 0;  // held during one of its passes, besides what is kept
  int64_t output_bytes = 0;   // that the next stage receives

  /// Appends a layer.
  LayerCost& operator+=(const LayerCost& next);
};

struct PartCosts {
  std::vector<LayerCost> layers;  // of the job, in the order of the model
  double weight_share = 0;        // of a backward, if the schedule is zero-bubble: what it defers
  int64_t state_bytes = 0;        // of a rank that had the whole model
  int64_t gradient_bytes = 0;     // a part of state_bytes
  double cores = 0;               // that all ranks share; 0: each has its own, as `layers` have it
};

/// Records trials when they are first needed. `subject` and `machine` must outlive this.
class PartCostTable {
 public:
  PartCostTable(const PlanSubject& subject, const distributed::simulator::MachineModel& machine)
      : subject_(subject), machine_(machine), space_(subject.space()) {}

  /// Errors: those of operators whose layout the model cannot have.
  PartCosts of(const distributed::JobLayout& layout);
  /// Without states, their messages and updates; takes no trial of them, which is slow if dp is
  /// large.
  PartCosts passes_alone(const distributed::JobLayout& layout);
  size_t trials() const { return trials_; }

 private:
  struct Passes {
    std::vector<LayerCost> chunks;
    std::vector<int64_t> layers;  // of the job, by chunk
    std::optional<double> weight_share{};
  };
  struct States {
    std::vector<double> shared;   // messages over dp in the passes of a micro-batch, by chunk
    std::vector<double> updates;  // by chunk
    std::vector<double> issues;   // of updates, by chunk
    int64_t bytes = 0;
    int64_t gradient_bytes = 0;  // a part of bytes
  };
  // tp, sequence parallelism, rows of a rank, recomputation.
  using PassKey = std::tuple<int64_t, bool, int64_t, distributed::Recompute>;
  // dp, pp, tp, ZeRO stage, order.
  using StateKey = std::tuple<int64_t, int64_t, int64_t, int, distributed::MeshOrder>;

  const Passes& passes_of(const distributed::JobLayout& layout);
  const States& states_of(const distributed::JobLayout& layout);
  /// From a trial of `alone` and one with a layer less.
  States states_from(const RecordedTrial& trial, const std::optional<RecordedTrial>& smaller,
                     const distributed::JobLayout& alone,
                     const distributed::JobLayout& layout) const;
  void add_updates(const distributed::JobLayout& layout, const distributed::JobLayout& alone,
                   const RecordedTrial& trial, const std::optional<RecordedTrial>& smaller,
                   States* states) const;
  Passes& with_deferred(const distributed::JobLayout& layout);
  int64_t rows_of(const distributed::JobLayout& layout) const;
  PassKey key_of(const distributed::JobLayout& layout) const;

  const PlanSubject& subject_;
  const distributed::simulator::MachineModel& machine_;
  const distributed::LayoutSpace space_;
  std::map<PassKey, Passes> passes_;
  std::map<StateKey, States> states_;
  size_t trials_ = 0;
};

}  // namespace phi::planning
