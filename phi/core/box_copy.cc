// Strided copies: inner tensor dims that are whole on both sides are one run.
#include "phi/core/box_copy.h"

#include <cstring>

namespace phi {

int64_t offset_in(const Box& box, const Box& region) {
  const Dims strides = box.size.strides();
  int64_t offset = 0;
  for (int d = 0; d < box.ndim(); ++d) {
    offset += (region.offset[d] - box.offset[d]) * strides[d];
  }
  return offset;
}

void copy_box(const void* src, const Box& src_box, void* dst, const Box& dst_box, const Box& region,
              size_t width) {
  if (region.empty()) return;
  int outer = region.ndim();  // tensor dims [outer, ndim) are one run of `run` elements
  int64_t run = 1;
  while (outer > 0) {
    --outer;
    run *= region.size[outer];
    if (region.size[outer] != src_box.size[outer] || region.size[outer] != dst_box.size[outer]) {
      break;
    }
  }
  const Dims src_strides = src_box.size.strides();
  const Dims dst_strides = dst_box.size.strides();
  const auto* from =
      static_cast<const std::byte*>(src) + static_cast<size_t>(offset_in(src_box, region)) * width;
  auto* to = static_cast<std::byte*>(dst) + static_cast<size_t>(offset_in(dst_box, region)) * width;
  const size_t bytes = static_cast<size_t>(run) * width;
  Dims index = Dims::filled(outer, 0);
  for (;;) {
    std::memcpy(to, from, bytes);
    int d = outer - 1;
    for (; d >= 0; --d) {
      from += src_strides[d] * static_cast<int64_t>(width);
      to += dst_strides[d] * static_cast<int64_t>(width);
      if (++index[d] < region.size[d]) break;
      from -= index[d] * src_strides[d] * static_cast<int64_t>(width);
      to -= index[d] * dst_strides[d] * static_cast<int64_t>(width);
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

void copy_boxes(std::span<const BoxCopy> copies, size_t width) {
  for (const BoxCopy& copy : copies) {
    copy_box(copy.from, copy.from_box, copy.to, copy.to_box, copy.region, width);
  }
}

std::optional<int64_t> contiguous_offset(const Box& box, const Box& region) {
  bool inner_whole = true;  // all tensor dims inside the current one are whole
  for (int d = box.ndim() - 1; d >= 0; --d) {
    if (!inner_whole && region.size[d] != 1) return std::nullopt;
    inner_whole = inner_whole && region.size[d] == box.size[d];
  }
  return offset_in(box, region);
}

}  // namespace phi
