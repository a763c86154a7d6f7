// What functions of one element are written with: PHI_HD, and the type in which they compute.
#pragma once

#include <type_traits>

#include "phi/common/half.h"
#include "phi/common/hd.h"

namespace phi {

template <typename T>
inline constexpr bool kIs16Bit = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// 16-bit floats compute in float, everything else in itself.
template <typename T>
using compute_t = std::conditional_t<kIs16Bit<T>, float, T>;

}  // namespace phi
