// Ranks are threads, each with a GPU, which a device communicator connects: the
// emulator's, or real ones (gpu_messages_tests).
#include <cuda_runtime_api.h>

#include <algorithm>
#include <numeric>

#include "distributed/comm/local/local_world.h"
#include "distributed/comm/nccl/nccl_communicator.h"
#include "distributed/comm/world.h"
#include "phi/gpu/errors.h"
#include "support/rank_launcher.h"

namespace phi::distributed::testing {

std::vector<int64_t> world_sizes() {
  int gpus = 0;
  PHI_GPU(cudaGetDeviceCount(&gpus));
  std::vector<int64_t> sizes(static_cast<size_t>(std::min(gpus, 4)));
  std::iota(sizes.begin(), sizes.end(), 1);
  return sizes;
}

void on_ranks(int64_t n, const std::function<void(World& world)>& body) {
  const auto on_gpus = [&](World& host) {
    const Place gpu = GPUPlace(static_cast<int>(host.rank()));
    host.rank_context().set_place(gpu);
    host.set_device_communicator(make_nccl_communicator(host, gpu, GpuReduction::kExact));
    body(host);
  };
  run_ranks(n, on_gpus, std::chrono::seconds(20));
}

}  // namespace phi::distributed::testing
