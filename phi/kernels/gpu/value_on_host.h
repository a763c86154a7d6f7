// Reads one element of a GPU array on the host, for kernels that need its value to continue.
#pragma once

#include <cstddef>
#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/gpu/gpu_device.h"

namespace phi::gpu {

/// Returns x[i]. The host synchronises with the GPU and throws pending device-side assertions.
template <typename T>
T value_on_host(const DenseTensor& x, int64_t i = 0) {
  T value;
  GpuDevice::of(x.place()).copy_to_host(&value, reinterpret_cast<const std::byte*>(x.data<T>() + i),
                                        sizeof(T));
  return value;
}

}  // namespace phi::gpu
