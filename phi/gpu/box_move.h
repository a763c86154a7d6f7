// The kernel that copies strided elements, such as a region of one box into another.
#pragma once

#include <cstddef>

#include "phi/core/box.h"
#include "phi/gpu/gpu_device.h"
#include "phi/gpu/walk.h"

namespace phi::gpu {

/// Loops of a copy: offsets in bytes, of what is read and of what is written. The first, innermost
/// one is an element's bytes, (width, {1, 1}).
using MoveWalk = Walk<2, 2 * kMaxNdim + 1>;

/// Queued on the device's compute stream.
void move_elements(GpuDevice& device, const std::byte* from, std::byte* to, const MoveWalk& walk);

/// As phi::copy_box between arrays of `device`, queued on its compute stream. Width: bytes of an
/// element, 1, 2, 4, 8 or 16.
void move_box(GpuDevice& device, const std::byte* src, const Box& src_box, std::byte* dst,
              const Box& dst_box, const Box& region, size_t width);

}  // namespace phi::gpu
