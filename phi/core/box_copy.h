// Copying boxes between row-major arrays that hold parts of one tensor.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "phi/core/box.h"

namespace phi {

/// Copies `region` from an array that holds `src_box` to one that holds `dst_box`; both contain it.
/// All boxes are in the tensor's coordinates; `width` is the bytes of one element.
void copy_box(const void* src, const Box& src_box, void* dst, const Box& dst_box, const Box& region,
              size_t width);

/// One of several such copies.
struct BoxCopy {
  const std::byte* from;
  Box from_box;
  std::byte* to;
  Box to_box;
  Box region;
};
/// None of them writes to what another reads or writes.
void copy_boxes(std::span<const BoxCopy> copies, size_t width);

/// Where `region` begins, in elements, in an array that holds `box`.
int64_t offset_in(const Box& box, const Box& region);

/// The same, if `region` is one piece there.
std::optional<int64_t> contiguous_offset(const Box& box, const Box& region);

}  // namespace phi
