// Common definitions of functions on one element: PHI_HD and the compute type.
#pragma once

#include <type_traits>

#include "phi/common/half.h"
#include "phi/common/host_device.h"

namespace phi {

template <typename T>
inline constexpr bool kIs16Bit = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// The type in which elements of T are computed: float for half precision, T otherwise.
template <typename T>
using compute_t = std::conditional_t<kIs16Bit<T>, float, T>;

}  // namespace phi
