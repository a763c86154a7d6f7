// Fills a GPU array with one value; compiled once per element width.
#pragma once

#include <cstddef>
#include <cstdint>

#include "phi/core/device/device_context.h"

namespace phi::gpu {

/// Fills n elements of `width` bytes. `value` points to `width` bytes in host memory.
void fill_elements(const GpuContext& ctx, void* to, int64_t n, const void* value, size_t width);

}  // namespace phi::gpu
