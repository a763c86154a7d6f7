// Indices along a tensor dim: their dtypes, whether they count from the end, and their checks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/index_errors.h"
#include "phi/kernels/indices.h"

namespace phi {

/// Errors: OutOfRange: `argument` has at flat position `at` what is no index of `extent`.
[[noreturn]] inline void throw_outside(const char* argument, int64_t index, int64_t at,
                                       int64_t extent, FromEnd from_end) {
  throw_outside_dim({.argument = argument,
                     .extent = extent,
                     .from_end = from_end == FromEnd::kYes,
                     .value = index,
                     .at = at});
}

/// Errors: throw_outside's for the first of n ids that is outside, whose flat position is counted
/// from `first`.
template <typename Id>
void check_indices(const Id* ids, int64_t n, const char* argument, int64_t extent, FromEnd from_end,
                   int64_t first = 0) {
  const int64_t lowest = from_end == FromEnd::kYes ? -extent : 0;
  std::make_unsigned_t<Id> outside = 0;  // as wide as an id: g++ 12 vectorises no fold of bools
  for (int64_t i = 0; i < n; ++i) outside |= (ids[i] < lowest) | (ids[i] >= extent) ? 1u : 0u;
  if (outside == 0) [[likely]]
    return;
  const Id* wrong = std::find_if(ids, ids + n, [=](Id id) { return id < lowest || id >= extent; });
  throw_outside(argument, *wrong, first + (wrong - ids), extent, from_end);
}

/// Reads indices in blocks, checked, as int64 counted from the first of `extent`: where they lie if
/// they are that already, which nearly all are, else from a copy.
class IndexBlocks {
 public:
  IndexBlocks(const DenseTensor& indices, const char* argument, int64_t extent, FromEnd from_end)
      : indices_(indices), argument_(argument), extent_(extent), from_end_(from_end) {}
  IndexBlocks(const IndexBlocks&) = delete;  // blocks may lie in this
  IndexBlocks& operator=(const IndexBlocks&) = delete;

  /// The next ones; none at the end. They are there until the next call. Errors: check_indices'.
  std::span<const int64_t> next() {
    const int64_t first = done_;
    const int64_t count = std::min(kBlock, indices_.numel() - first);
    done_ += count;
    if (indices_.dtype() == DataType::INT32) return copy(indices_.data<int32_t>(), first, count);
    const int64_t* ids = indices_.data<int64_t>() + first;
    // Negative ones set the sign themselves, those behind the last one that of the difference.
    const auto last = static_cast<uint64_t>(extent_ - 1);
    uint64_t signs = 0;
    for (int64_t i = 0; i < count; ++i) {
      const auto id = static_cast<uint64_t>(ids[i]);
      signs |= id | (last - id);
    }
    if (signs >> 63 != 0) return copy(ids - first, first, count);
    return {ids, static_cast<size_t>(count)};
  }

 private:
  static constexpr int64_t kBlock = 512;

  template <typename Id>
  std::span<const int64_t> copy(const Id* ids, int64_t first, int64_t count) {
    check_indices(ids + first, count, argument_, extent_, from_end_, first);
    for (int64_t i = 0; i < count; ++i) block_[i] = from_front(ids[first + i], extent_);
    return {block_, static_cast<size_t>(count)};
  }

  const DenseTensor& indices_;
  const char* argument_;
  int64_t extent_;
  FromEnd from_end_;
  int64_t done_ = 0;
  int64_t block_[kBlock];
};

}  // namespace phi
