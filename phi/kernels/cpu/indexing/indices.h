// Indices along a tensor dim: reading them as int64, and checks of their range.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/index_errors.h"
#include "phi/kernels/indices.h"

namespace phi {

/// Throws for `index`, which is outside `extent`, at flat position `at` of `argument`.
///
/// Errors   OutOfRange.
[[noreturn]] inline void throw_outside(const char* argument, int64_t index, int64_t at,
                                       int64_t extent, FromEnd from_end) {
  throw_outside_dim({.argument = argument,
                     .extent = extent,
                     .from_end = from_end == FromEnd::kYes,
                     .value = index,
                     .at = at});
}

/// Checks n ids. Flat positions in the error are counted from `first`.
///
/// Errors   throw_outside's, for the first id that is outside `extent`.
template <typename Id>
void check_indices(const Id* ids, int64_t n, const char* argument, int64_t extent, FromEnd from_end,
                   int64_t first = 0) {
  const int64_t lowest = from_end == FromEnd::kYes ? -extent : 0;
  std::make_unsigned_t<Id> outside = 0;  // not bool, whose fold g++ 12 does not vectorise
  for (int64_t i = 0; i < n; ++i) outside |= (ids[i] < lowest) | (ids[i] >= extent) ? 1u : 0u;
  if (outside == 0) [[likely]]
    return;
  const Id* wrong = std::find_if(ids, ids + n, [=](Id id) { return id < lowest || id >= extent; });
  throw_outside(argument, *wrong, first + (wrong - ids), extent, from_end);
}

/// Reads indices in checked blocks of int64, counted from the start of `extent`. A block is read in
/// place if its indices are int64 and not negative, as they usually are, otherwise from a copy.
class IndexBlocks {
 public:
  IndexBlocks(const DenseTensor& indices, const char* argument, int64_t extent, FromEnd from_end)
      : indices_(indices), argument_(argument), extent_(extent), from_end_(from_end) {}
  IndexBlocks(const IndexBlocks&) = delete;  // blocks may point into this object
  IndexBlocks& operator=(const IndexBlocks&) = delete;

  /// Returns the next block, empty at the end. It is valid until the next call.
  ///
  /// Errors   check_indices'.
  std::span<const int64_t> next() {
    const int64_t first = done_;
    const int64_t count = std::min(kBlock, indices_.numel() - first);
    done_ += count;
    if (indices_.dtype() == DataType::INT32) return copy(indices_.data<int32_t>(), first, count);
    const int64_t* ids = indices_.data<int64_t>() + first;
    // A negative index sets the sign bit itself; for an index beyond the last one, the difference
    // does.
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
