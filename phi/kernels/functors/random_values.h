// Conversion of random words to uniform and normal numbers, shared by all devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/fast/trig.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// A word as a float in (0, 1]; steps near 0 are 2^-31.
PHI_HD float unit_float(uint32_t word) {
  return (static_cast<float>(static_cast<int32_t>(word >> 1)) + 0.5f) * 0x1p-31f;
}

/// A word as a number in [0, 1), with as many bits as C represents exactly.
PHI_HD void unit_value(uint32_t word, float* out) {
  *out = static_cast<float>(static_cast<int32_t>(word >> 8)) * 0x1p-24f;
}
PHI_HD void unit_value(uint32_t word, double* out) { *out = static_cast<double>(word) * 0x1p-32; }

/// Box-Muller: converts two words to two standard normal numbers.
PHI_HD void normal_pair(uint32_t word, uint32_t next, float* first, float* second) {
  const float radius = std::sqrt(-2.0f * fast::log(unit_float(word)));
  float sine;
  float cosine;
  fast::sincos_turns(unit_float(next), &sine, &cosine);
  *first = radius * cosine;
  *second = radius * sine;
}

}  // namespace phi
