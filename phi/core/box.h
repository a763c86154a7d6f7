// Box: a rectangular part of a tensor, and how a local array lies in its global tensor.
#pragma once

#include <string>

#include "phi/common/dims.h"

namespace phi {

/// The elements offset[d] <= index[d] < offset[d] + size[d].
struct Box {
  Dims offset;
  Dims size;

  int ndim() const { return size.ndim(); }
  int64_t numel() const { return size.numel(); }
  bool empty() const { return numel() == 0; }
  friend bool operator==(const Box&, const Box&) = default;
  /// "[0:32,16:32]"
  std::string to_string() const;

  /// The whole of a tensor of these dims.
  static Box whole(const Dims& dims) { return {Dims::filled(dims.ndim(), 0), dims}; }
};

/// The elements that both hold; sizes are 0 where they do not meet.
Box intersect(const Box& a, const Box& b);

/// A local array as part of a global tensor: `box` within `global`.
struct ShardBox {
  Dims global;
  Box box;
  bool is_whole() const { return box.size == global; }
};

}  // namespace phi
