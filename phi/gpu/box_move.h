// The kernel that copies a region of one box of elements into another.
#pragma once

#include <cstddef>

#include "phi/core/box.h"
#include "phi/gpu/gpu_device.h"

namespace phi::gpu {

/// As phi::copy_box between arrays of `device`, queued on its compute stream. Width: bytes of an
/// element, 1, 2, 4, 8 or 16.
void move_box(GpuDevice& device, const std::byte* src, const Box& src_box, std::byte* dst,
              const Box& dst_box, const Box& region, size_t width);

}  // namespace phi::gpu
