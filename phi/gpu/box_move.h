// Launchers of the kernels that copy strided elements, for example boxes between arrays.
#pragma once

#include <cstddef>
#include <span>

#include "phi/core/box_copy.h"
#include "phi/gpu/gpu_device.h"
#include "phi/gpu/walk.h"

namespace phi::gpu {

/// Loop nest of a strided copy; offsets are in bytes. Operand 0 is the source and operand 1 the
/// destination. The first (innermost) loop covers the bytes of one element: size `width`, strides
/// {1, 1}.
using MoveWalk = Walk<2, 2 * kMaxNdim + 1>;

/// Copies `walk` elements from `from` to `to`; queued on the device's compute stream.
void move_elements(GpuDevice& device, const std::byte* from, std::byte* to, const MoveWalk& walk);

/// Same contract as phi::copy_boxes for arrays on `device`; queued on its compute stream. One
/// launch executes up to 64 copies. `width` is the size of an element in bytes: 1, 2, 4, 8 or 16.
void move_boxes(GpuDevice& device, std::span<const BoxCopy> copies, size_t width);

}  // namespace phi::gpu
