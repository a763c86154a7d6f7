// Kernel launches on the compute stream of a place. Included by .cu files only. nvcc compiles these
// for GPUs, and g++ compiles them for the CUDA emulator of the tests (docs/gpu.md).
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

/// Default number of threads per block.
inline constexpr int kBlock = 256;

/// Number of blocks for a grid-stride kernel: one thread per item, but at most as many blocks as
/// fill the GPU.
unsigned blocks_for(const GpuDevice& device, int64_t items);
unsigned blocks_for(const KernelContext& ctx, int64_t items);

/// Work of a kernel that processes packs (phi/gpu/pack.h). `packs` is the number of packs of
/// `width` elements among n, or 0 unless `lie`. `blocks` has one thread per pack and per remaining
/// element; it is 0 for n = 0.
struct PackCount {
  int64_t packs;
  unsigned blocks;
};
PackCount count_packs(const KernelContext& ctx, int64_t n, int width, bool lie);

/// Everything but the kernel that a launch on a device's compute stream needs.
struct LaunchSite {
  GpuDevice* device;
  ComputeStream stream;
  cudaLaunchConfig_t config;
};
LaunchSite launch_site(GpuDevice& device, dim3 grid, dim3 block);
LaunchSite launch_site(const KernelContext& ctx, dim3 grid, dim3 block);

/// Launches `kernel` on the compute stream of `where`, a GpuDevice or a KernelContext. Errors:
/// Unavailable with the last launches; those of GpuDevice::compute(). Work common to all launches
/// is in functions outside this template, which is instantiated for each kernel.
template <typename Where, typename... Params, typename... Args>
void launch(Where& where, void (*kernel)(Params...), dim3 grid, dim3 block, Args&&... args) {
  const LaunchSite site = launch_site(where, grid, block);
  site.device->launched(cudaLaunchKernelEx(&site.config, kernel, std::forward<Args>(args)...));
}

/// Grid-stride loop: the index of a thread's first item, and the stride to its next ones.
__device__ inline int64_t first_item() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline int64_t item_stride() { return int64_t{gridDim.x} * blockDim.x; }

}  // namespace phi::gpu
