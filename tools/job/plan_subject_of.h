// A job as the subject of a plan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/planning/placing/explain_layers.h"
#include "api/planning/plan_subject.h"
#include "distributed/simulator/machine.h"
#include "tools/job/config/rewrite_job.h"
#include "tools/job/rank_records.h"
#include "tools/job/setup.h"

namespace phi::job {

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
  /// The rows of a layout with searched placements: parameters, and activations for which modules
  /// declare nothing, where the best placements are others. All layers have the same.
  const nn::Layout& searched_rows(const distributed::JobLayout& layout) const;

  distributed::LayoutSpace space() const override { return space_; }
  std::optional<std::string> refusal(const distributed::JobLayout& layout) const override;
  bool can_search_placements(const distributed::JobLayout& layout) const override;
  planning::Trial trial(const distributed::JobLayout& layout, int64_t global_batch,
                        int64_t layers) const override;
  simulation::RankTotals totals_of(const distributed::JobLayout& layout,
                                   int64_t rank) const override;
  simulation::PredictedStep predict(const distributed::JobLayout& layout) const override;

 private:
  // Layouts with equal keys have the same searched placements: tp, sequence parallelism, samples of
  // a micro-batch, micro-batches.
  using SearchKey = std::tuple<int64_t, bool, int64_t, int64_t>;

  JobConfig config_of(const distributed::JobLayout& layout) const;
  planning::ExplainedLayers search(const distributed::JobLayout& layout, bool moves_declared) const;

  const Setup& setup_;
  const distributed::simulator::MachineModel& machine_;
  distributed::LayoutSpace space_;
  std::optional<double> model_flops_;
  mutable RankRecords records_;
  mutable std::map<SearchKey, nn::Layout> searched_;
};

}  // namespace phi::job
