// 2^x in one instruction of GPUs.
#pragma once

#include <cmath>

#include "phi/common/hd.h"

namespace phi::gpu {

/// Within 2 units of the last place, and 0 instead of subnormal numbers.
PHI_HD float rough_exp2(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::exp2(x);
#endif
}

}  // namespace phi::gpu
