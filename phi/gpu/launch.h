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
unsigned blocks_for(const GpuDevice& device, int64_t items);
unsigned blocks_for(const KernelContext& ctx, int64_t items);

/// Packs of `width` elements (phi/gpu/pack.h) among n, none unless they `lie` in packs, and blocks
/// for one thread per pack and per element that is left; no blocks for no elements.
struct PackCount {
  int64_t packs;
  unsigned blocks;
};
PackCount count_packs(const KernelContext& ctx, int64_t n, int width, bool lie);

/// What a launch needs beside its kernel, on a device's compute stream.
struct LaunchSite {
  GpuDevice* device;
  ComputeStream stream;
  cudaLaunchConfig_t config;
};
LaunchSite launch_site(GpuDevice& device, dim3 grid, dim3 block);
LaunchSite launch_site(const KernelContext& ctx, dim3 grid, dim3 block);

/// `where` is a GpuDevice or a KernelContext. Errors: Unavailable, naming the last launches; those
/// of GpuDevice::compute().
/// Compilers make this for each kernel: what all launches do is in functions.
template <typename Where, typename... Params, typename... Args>
void launch(Where& where, void (*kernel)(Params...), dim3 grid, dim3 block, Args&&... args) {
  const LaunchSite site = launch_site(where, grid, block);
  site.device->launched(cudaLaunchKernelEx(&site.config, kernel, std::forward<Args>(args)...));
}

/// The first item of a thread, and how far apart its items are.
__device__ inline int64_t first_item() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline int64_t item_stride() { return int64_t{gridDim.x} * blockDim.x; }

}  // namespace phi::gpu
