// Box: a rectangular part of a tensor. ShardBox: the position of a local array in its global
// tensor.
#pragma once

#include <string>

#include "phi/common/dims.h"

namespace phi {

/// The elements with offset[d] <= index[d] < offset[d] + size[d] for each tensor dim d.
struct Box {
  Dims offset;
  Dims size;

  int ndim() const { return size.ndim(); }
  int64_t numel() const { return size.numel(); }
  bool empty() const { return numel() == 0; }
  friend bool operator==(const Box&, const Box&) = default;
  /// "[0:32,16:32]"
  std::string to_string() const;

  /// The box of all elements of a tensor with these dims.
  static Box whole(const Dims& dims) { return {Dims::filled(dims.ndim(), 0), dims}; }
};

/// The common elements of both boxes. The size is 0 along each tensor dim in which they do not
/// overlap.
Box intersect(const Box& a, const Box& b);

/// A local array that holds `box` of a tensor with dims `global`.
struct ShardBox {
  Dims global;
  Box box;
  bool is_whole() const { return box.size == global; }
};

}  // namespace phi
