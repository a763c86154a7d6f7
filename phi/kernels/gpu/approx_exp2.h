// Approximate 2^x in one GPU instruction.
#pragma once

#include <cmath>

#include "phi/common/host_device.h"

namespace phi::gpu {

/// 2^x with an error of at most 2 units in the last place. Subnormal results are flushed to 0.
PHI_HD float approx_exp2(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::exp2(x);
#endif
}

}  // namespace phi::gpu
