// What loops read elements of T as.
#pragma once

#include <type_traits>

#include "phi/kernels/functors/hd.h"

namespace phi {

/// bfloat16 is widened as it is read, by a shift; float16, whose conversion g++ makes no vectors
/// of, is converted in blocks before.
template <typename T>
using read_t = std::conditional_t<std::is_same_v<T, bfloat16>, T, compute_t<T>>;

}  // namespace phi
