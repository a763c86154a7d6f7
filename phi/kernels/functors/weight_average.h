// Running averages of weights over recent steps (average_accumulates_): when sums are moved.
#pragma once

#include <cstdint>

#include "phi/kernels/functors/convert_value.h"

namespace phi {

/// The result of one step. Weights are added to sum 1. If `moves`, sum 1 has as many terms as a
/// float sum can resolve, and is moved to sum 2. If `restarts`, the window is full: sums 1 and 2
/// move to sum 3, and counting restarts.
struct AverageStep {
  int64_t terms;
  int64_t old_terms;
  int64_t updates;
  bool moves;
  bool restarts;
};

/// The window size: min(most, share * updates), but at least `least`.
struct AverageWindow {
  static constexpr int64_t kMostInOneSum = 16384;
  float share;
  int64_t most;
  int64_t least;

  /// The next step, for the counts before it.
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
