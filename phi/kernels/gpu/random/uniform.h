// Uniform draws on a GPU, for draw_to() (draw.h). Words and values equal those of the CPU.
#pragma once

#include <cmath>
#include <cstdint>

#include "phi/kernels/functors/random_values.h"
#include "phi/kernels/gpu/random/draw.h"

namespace phi::gpu {

/// A value in [min, max), rounded to T.
template <typename T>
struct DrawUniform {
  using C = compute_t<T>;
  C min;
  C max;
  C below_max;

  DrawUniform(double low, double high)
      : min(static_cast<C>(low)), max(static_cast<C>(high)), below_max(std::nextafter(max, min)) {}
  PHI_HD T operator()(const PhiloxBlock& block, int w) const {
    C u;
    unit_value(word_of(block, w), &u);
    const C value = std::fma(u, max - min, min);             // FMA, as the CPU code is compiled
    return static_cast<T>(value < max ? value : below_max);  // rounding may have reached max
  }
};

}  // namespace phi::gpu
