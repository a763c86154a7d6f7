// Copies boxes between row-major host arrays that hold parts of one tensor.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "phi/core/box.h"

namespace phi {

/// Copies `region` from an array that holds `src_box` to one that holds `dst_box`. Both boxes must
/// contain it. All boxes are in the tensor's coordinates. `width` is the size of an element in
/// bytes.
void copy_box(const void* src, const Box& src_box, void* dst, const Box& dst_box, const Box& region,
              size_t width);

/// The arguments of one copy_box.
struct BoxCopy {
  const std::byte* from;
  Box from_box;
  std::byte* to;
  Box to_box;
  Box region;
};
/// Runs several copies. No copy may write to memory that another one reads or writes.
void copy_boxes(std::span<const BoxCopy> copies, size_t width);

/// Offset in elements of the first element of `region` in a row-major array that holds `box`.
int64_t offset_in(const Box& box, const Box& region);

/// The same offset if `region` is contiguous in that array; otherwise nullopt.
std::optional<int64_t> contiguous_offset(const Box& box, const Box& region);

}  // namespace phi
