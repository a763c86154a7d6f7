// Slices: a row-major array seen along one tensor dim, or along its first dims merged into one, for
// gathers and scatters; and how a scatter initialises the slices that it adds to.
#pragma once

#include <cstdint>

#include "phi/common/dims.h"

namespace phi {

/// A row-major array as [outer, extent, inner]: slice `i` is [:, i, :].
struct Slices {
  int64_t outer;
  int64_t extent;
  int64_t inner;

  /// Slices along one tensor dim.
  static Slices along(const Dims& dims, int axis) {
    return {dims.numel(0, axis), dims[axis], dims.numel(axis + 1, dims.ndim())};
  }
  /// Slices along the first `count` tensor dims, merged into one.
  static Slices of_first(const Dims& dims, int count) {
    return {1, dims.numel(0, count), dims.numel(count, dims.ndim())};
  }
};

/// The values of the slices before a scatter adds to them.
enum class SumsFrom : uint8_t {
  kZero,     // all slices start as zeros
  kWritten,  // indexed slices start as zeros, others keep their values
  kExisting  // all slices keep their values
};

}  // namespace phi
