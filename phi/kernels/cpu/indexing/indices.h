// Indices along a tensor dim: their dtypes, whether they count from the end, and their checks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "phi/core/dense_tensor.h"

namespace phi {

/// May an index count from the end?
enum class FromEnd : bool { kNo, kYes };

/// Errors: InvalidArgument: `argument` has at flat position `at` what is no index of `extent`.
[[noreturn]] void throw_outside(std::string_view argument, int64_t index, int64_t at,
                                int64_t extent, FromEnd from_end);

/// Calls f with a pointer to the indices, int32 or int64.
template <typename F>
void visit_indices(const DenseTensor& indices, F&& f) {
  if (indices.dtype() == DataType::INT32) return f(indices.data<int32_t>());
  f(indices.data<int64_t>());
}

/// Counted from the first of `extent`.
template <typename Id>
int64_t from_front(Id id, int64_t extent) {
  return id + (id < 0 ? extent : 0);
}

/// Errors: throw_outside's for the first of n ids that is outside.
template <typename Id>
void check_indices(const Id* ids, int64_t n, std::string_view argument, int64_t extent,
                   FromEnd from_end) {
  const int64_t lowest = from_end == FromEnd::kYes ? -extent : 0;
  std::make_unsigned_t<Id> outside = 0;  // as wide as an id: g++ 12 vectorises no fold of bools
  for (int64_t i = 0; i < n; ++i) outside |= (ids[i] < lowest) | (ids[i] >= extent) ? 1u : 0u;
  if (outside == 0) [[likely]]
    return;
  const Id* wrong = std::find_if(ids, ids + n, [=](Id id) { return id < lowest || id >= extent; });
  throw_outside(argument, *wrong, wrong - ids, extent, from_end);
}

}  // namespace phi
