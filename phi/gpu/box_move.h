// The kernels that copy strided elements, such as regions of boxes into others.
#pragma once

#include <cstddef>
#include <span>

#include "phi/core/box_copy.h"
#include "phi/gpu/gpu_device.h"
#include "phi/gpu/walk.h"

namespace phi::gpu {

/// Loops of a copy: offsets in bytes, of what is read and of what is written. The first, innermost
/// one is an element's bytes, (width, {1, 1}).
using MoveWalk = Walk<2, 2 * kMaxNdim + 1>;

/// Queued on the device's compute stream.
void move_elements(GpuDevice& device, const std::byte* from, std::byte* to, const MoveWalk& walk);

/// As phi::copy_boxes between arrays of `device`, queued on its compute stream: up to 64 of them in
/// one launch. Width: bytes of an element, 1, 2, 4, 8 or 16.
void move_boxes(GpuDevice& device, std::span<const BoxCopy> copies, size_t width);

}  // namespace phi::gpu
