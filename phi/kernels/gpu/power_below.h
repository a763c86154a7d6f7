// exp(v - most), the terms of a softmax, on GPUs.
#pragma once

#include <cmath>

#include "phi/kernels/functors/hd.h"

namespace phi::gpu {

/// 2^x within 2 units of the last place, and 0 instead of subnormal numbers: one instruction.
PHI_HD float rough_exp2(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::exp2(x);
#endif
}

/// Of elements of T. For 16-bit ones within 1e-5, a hundredth of what their last bit is worth: an
/// exact one takes three times as many instructions, and memory would wait for them.
template <typename T>
struct PowerBelow {
  using C = compute_t<T>;
  C most;
  PHI_HD C operator()(C v) const {
    if constexpr (kIs16Bit<T>) {
      constexpr float kLog2e = 1.44269504088896341f;
      return rough_exp2((v - most) * kLog2e);
    } else {
      return std::exp(v - most);
    }
  }
};

}  // namespace phi::gpu
