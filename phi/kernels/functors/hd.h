// PHI_HD marks functions of one element: inlined into CPU loops, callable from CUDA kernels. With
// it the type in which such a function computes.
#pragma once

#include <type_traits>

#include "phi/common/half.h"

#ifdef __CUDACC__
#define PHI_HD __host__ __device__ __forceinline__
#else
#define PHI_HD inline __attribute__((always_inline))
#endif

namespace phi {

template <typename T>
inline constexpr bool kIs16Bit = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// 16-bit floats compute in float, everything else in itself.
template <typename T>
using compute_t = std::conditional_t<kIs16Bit<T>, float, T>;

}  // namespace phi
