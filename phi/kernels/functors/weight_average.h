// Averages of weights over the last steps (average_accumulates_): when sums move on.
#pragma once

#include <cstdint>

#include "phi/kernels/functors/convert_value.h"

namespace phi {

/// Sum 1 takes the weights. It moves to sum 2 where it has as many terms as a float can tell apart
/// (`moves`), and both to sum 3, and the count begins anew, where there are as many terms as the
/// window wants (`restarts`).
struct AverageStep {
  int64_t terms;
  int64_t old_terms;
  int64_t updates;
  bool moves;
  bool restarts;
};

/// The terms that are wanted: min(most, share * updates), but at least `least`.
struct AverageWindow {
  static constexpr int64_t kMostInOneSum = 16384;
  float share;
  int64_t most;
  int64_t least;

  /// Of the counts before the step.
  PHI_HD AverageStep operator()(int64_t terms, int64_t old_terms, int64_t updates) const {
    ++terms;
    ++updates;
    const auto wanted = truncated<int64_t>(static_cast<float>(updates) * share);
    const bool restarts = terms >= least && terms >= (most < wanted ? most : wanted);
    return {restarts ? 0 : terms, restarts ? terms : old_terms, updates,
            updates % kMostInOneSum == 0, restarts};
  }
};

}  // namespace phi
