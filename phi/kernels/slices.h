// Slices: an array around one tensor dim, or its first ones counted as one, for gathers and
// scatters; and what becomes of slices to which others are added.
#pragma once

#include <cstdint>

#include "phi/common/dims.h"

namespace phi {

/// A row-major array as [outer, extent, inner]: slice `i` is [:, i, :].
struct Slices {
  int64_t outer;
  int64_t extent;
  int64_t inner;

  /// Of one tensor dim.
  static Slices along(const Dims& dims, int axis) {
    return {dims.numel(0, axis), dims[axis], dims.numel(axis + 1, dims.ndim())};
  }
  /// Of the first `count` tensor dims, counted as one.
  static Slices of_first(const Dims& dims, int count) {
    return {1, dims.numel(0, count), dims.numel(count, dims.ndim())};
  }
};

/// What slices are before something is added to them.
enum class SumsFrom : uint8_t {
  kZero,        // all slices become sums, of nothing: zeros
  kWritten,     // those that are named become sums, others stay
  kWhatIsThere  // sums are added to what is there
};

}  // namespace phi
