// Runs plans of a job for a few steps, each as `autophi run` under mpirun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/planning/plan.h"
#include "distributed/supervise/mpirun.h"
#include "tools/job/plan_subject_of.h"

namespace phi::job {

/// A plan that was run.
struct MeasuredPlan {
  planning::PlannedLayout plan;  // with measured_seconds, unless the run failed
  std::string fault{};           // how the run failed, and its error output; empty: it did not
};

/// Measures the first `count` plans with `devices` processes each, and puts them into the order of
/// their measured times: before the other plans, and those whose run failed after them. Returns
/// what was run, in that order. Files are in a temporary folder, which is removed.
/// Errors: Unavailable with the output of the first run if all failed, or without a temporary
/// folder; NotFound if mpirun cannot be started.
std::vector<MeasuredPlan> measure_plans(const PlannedJob& job, int64_t devices, size_t count,
                                        const distributed::supervise::MpirunOptions& mpirun,
                                        std::vector<planning::PlannedLayout>* plans);

/// "   0.0299 s predicted, 0.0311 s measured (+4.0 %)  dp 2  pp 1 ..", a line for each plan.
std::string table(const std::vector<MeasuredPlan>& measured);

}  // namespace phi::job
