// Launches of kernels on the compute stream of a place. For .cu files, which nvcc compiles for GPUs
// and g++ for the tests that run them on the CPU (docs/gpu.md).
//
//   launch(ctx, fill_kernel<float>, blocks_for(ctx, n), kBlock, to, n, 0.0f);
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "phi/core/device/device_context.h"
#include "phi/gpu/gpu_device.h"

namespace phi::gpu {

/// Threads of a block, where a kernel has no reason for another number.
inline constexpr int kBlock = 256;

/// Enough blocks for one thread per item, and no more than keep the GPU busy: kernels stride by the
/// grid.
inline unsigned blocks_for(const GpuDevice& device, int64_t items) {
  constexpr int kBlocksOfAMultiprocessor = 8;  // of 256 threads: all that it holds at once
  const int64_t wanted = (items + kBlock - 1) / kBlock;
  const int64_t most = int64_t{device.multiprocessors()} * kBlocksOfAMultiprocessor;
  return static_cast<unsigned>(std::clamp<int64_t>(wanted, 1, most));
}
inline unsigned blocks_for(const KernelContext& ctx, int64_t items) {
  return blocks_for(GpuDevice::of(ctx.place()), items);
}

/// Errors: Unavailable, naming the last launches.
template <typename... Params, typename... Args>
void launch(GpuDevice& device, void (*kernel)(Params...), dim3 grid, dim3 block, Args&&... args) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = device.compute();
  device.launched(cudaLaunchKernelEx(&config, kernel, std::forward<Args>(args)...));
}
template <typename... Params, typename... Args>
void launch(const KernelContext& ctx, void (*kernel)(Params...), dim3 grid, dim3 block,
            Args&&... args) {
  launch(GpuDevice::of(ctx.place()), kernel, grid, block, std::forward<Args>(args)...);
}

/// The first item of a thread, and how far apart its items are.
__device__ inline int64_t first_item() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline int64_t item_stride() { return int64_t{gridDim.x} * blockDim.x; }

}  // namespace phi::gpu
