// Evenly spaced numbers, computed in vectors.
//
//   for_evenly_spaced({2.5, 0.1}, first, n, [=](int64_t i, double number) { to[i] = number; });
//   // to[i] is 2.5 + (first + i) 0.1
#pragma once

#include <algorithm>
#include <cstdint>

#include "phi/kernels/cpu/loop_isa.h"

namespace phi {

struct EvenSpacing {
  double start;  // number 0
  double step;
};

/// Calls f(i, number first + i) for 0 <= i < n. first + n must be below 2^53.
template <typename F>
void for_evenly_spaced(EvenSpacing spacing, int64_t first, int64_t n, F f) {
  run_best_isa<double>([=] {
    constexpr int64_t kBlock = 1024;
    for (int64_t begin = 0; begin < n; begin += kBlock) {
      const auto base = static_cast<double>(first + begin);
      const auto count = static_cast<int>(std::min(kBlock, n - begin));
      // Counted by int, because only AVX-512 converts vectors of int64 to double.
      for (int i = 0; i < count; ++i) f(begin + i, spacing.start + spacing.step * (base + i));
    }
  });
}

}  // namespace phi
