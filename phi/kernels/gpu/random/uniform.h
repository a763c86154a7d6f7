// Uniform draws on a GPU, for draw() (draw.h): the CPU's words, and its values.
#pragma once

#include <cmath>
#include <cstdint>

#include "phi/kernels/functors/random_values.h"
#include "phi/kernels/gpu/random/draw.h"

namespace phi::gpu {

/// out[i]: in [min, max), rounded to T.
template <typename T>
struct DrawUniform {
  using C = compute_t<T>;
  C min;
  C max;
  C below_max;
  T* out;

  DrawUniform(double low, double high, T* to)
      : min(static_cast<C>(low)),
        max(static_cast<C>(high)),
        below_max(std::nextafter(max, min)),
        out(to) {}
  PHI_HD void operator()(int64_t i, const PhiloxBlock& block, int w) const {
    C u;
    unit_value(word_of(block, w), &u);
    const C value = std::fma(u, max - min, min);               // as the CPU's compiler makes it
    out[i] = static_cast<T>(value < max ? value : below_max);  // rounding may have met max
  }
};

}  // namespace phi::gpu
