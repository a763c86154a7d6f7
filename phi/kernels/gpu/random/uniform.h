// Uniform draws on a GPU, for draw_to() (draw.h): the CPU's words, and its values.
#pragma once

#include <cmath>
#include <cstdint>

#include "phi/kernels/functors/random_values.h"
#include "phi/kernels/gpu/random/draw.h"

namespace phi::gpu {

/// In [min, max), rounded to T.
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
    const C value = std::fma(u, max - min, min);             // as the CPU's compiler makes it
    return static_cast<T>(value < max ? value : below_max);  // rounding may have met max
  }
};

}  // namespace phi::gpu
