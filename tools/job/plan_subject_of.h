// A job as the subject of a plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/planning/explain_layers.h"
#include "api/planning/plan_subject.h"
#include "distributed/simulator/machine.h"
#include "tools/job/config/rewrite_job.h"
#include "tools/job/rank_records.h"
#include "tools/job/setup.h"

namespace phi::job {

/// Sets the mesh and the run keys of a layout, and drops keys that a job of that layout does not
/// read.
JobConfig with_layout(JobConfig config, const distributed::JobLayout& layout);

/// Errors: InvalidArgument `FILE:LINE: ..` for a job that does not train.
void check_is_planned(const JobConfig& config);

class PlannedJob final : public planning::PlanSubject {
 public:
  /// `setup` is that of a dry run of a job of this many steps; it and `machine` must outlive this.
  /// Errors: InvalidArgument with file and line for a job that does not train; those of check_fits.
  PlannedJob(const Setup& setup, int64_t devices, const std::vector<std::string>& fixed,
             int64_t steps, const distributed::simulator::MachineModel& machine);

  const JobConfig& config() const { return setup_.config; }
  const std::string& file() const { return setup_.config.file; }
  /// The keys that a layout sets, with their values.
  std::vector<ChangedKey> keys_of(const distributed::JobLayout& layout) const;

  /// The placements along tp of a few layers, for a micro-batch of a layout with tp > 1, as modules
  /// and the job declare them, beside the best ones.
  planning::ExplainedLayers explain(const distributed::JobLayout& layout) const;

  distributed::LayoutSpace space() const override { return space_; }
  std::optional<std::string> refusal(const distributed::JobLayout& layout) const override;
  planning::Trial trial(const distributed::JobLayout& layout, int64_t global_batch,
                        int64_t layers) const override;
  simulation::RankPrediction held_by(const distributed::JobLayout& layout,
                                     int64_t rank) const override;
  simulation::PredictedStep predict(const distributed::JobLayout& layout) const override;

 private:
  const Setup& setup_;
  const distributed::simulator::MachineModel& machine_;
  distributed::LayoutSpace space_;
  std::optional<double> model_flops_;
  mutable RankRecords records_;
};

}  // namespace phi::job
