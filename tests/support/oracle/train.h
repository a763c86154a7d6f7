// The steps of a job.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "support/oracle/job.h"
#include "support/oracle/parameters.h"

namespace oracle {

/// What a job's metrics say of a step, and how large gradients were.
struct Step {
  double loss = 0.0;
  double rate = 0.0;
  double norm = 0.0;
  double loss_scale = 1.0;
  bool applied = true;
  double largest_parameter_gradient = 0.0;  // magnitude of one element
  double largest_gradient = 0.0;            // that of an activation too
};

/// Trains `parameters`. The steps in `left_out` are left out: which ones overflow depends on how a
/// 16-bit job rounds, so the job says.
std::vector<Step> train(const Job& job, const std::set<int64_t>& left_out, Parameters* parameters);

}  // namespace oracle
