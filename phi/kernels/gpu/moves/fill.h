// One value for all elements of an array on a GPU, by the width of an element.
#pragma once

#include <cstddef>
#include <cstdint>

#include "phi/core/device/device_context.h"

namespace phi::gpu {

/// `value` points to `width` bytes of the host.
void fill_elements(const GpuContext& ctx, void* to, int64_t n, const void* value, size_t width);

}  // namespace phi::gpu
