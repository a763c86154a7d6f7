// Code that all kernel launches share.
#include <algorithm>

#include "phi/gpu/launch.h"

namespace phi::gpu {

unsigned blocks_for(const GpuDevice& device, int64_t items) {
  // With 256 threads each, this is the most that is resident.
  constexpr int kBlocksOfAMultiprocessor = 8;
  const int64_t wanted = (items + kBlock - 1) / kBlock;
  const int64_t most = int64_t{device.multiprocessors()} * kBlocksOfAMultiprocessor;
  return static_cast<unsigned>(std::clamp<int64_t>(wanted, 1, most));
}

unsigned blocks_for(const KernelContext& ctx, int64_t items) {
  return blocks_for(GpuDevice::of(ctx.place()), items);
}

PackCount count_packs(const KernelContext& ctx, int64_t n, int width, bool lie) {
  if (n == 0) return {0, 0};
  if (!lie) return {0, blocks_for(ctx, n)};
  return {n / width, blocks_for(ctx, n / width + n % width)};
}

LaunchSite launch_site(GpuDevice& device, dim3 grid, dim3 block) {
  LaunchSite site{&device, device.compute(), {}};
  site.config.gridDim = grid;
  site.config.blockDim = block;
  site.config.stream = site.stream;
  return site;
}

LaunchSite launch_site(const KernelContext& ctx, dim3 grid, dim3 block) {
  return launch_site(GpuDevice::of(ctx.place()), grid, block);
}

}  // namespace phi::gpu
