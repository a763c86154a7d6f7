// Ranks are threads, each with a GPU of the twin, and bodies get the carrier between those.
#include "distributed/comm/local/local_world.h"
#include "distributed/comm/nccl/nccl_world.h"
#include "support/rank_launcher.h"

namespace phi::distributed::testing {

std::vector<int64_t> world_sizes() { return {1, 2, 3, 4}; }

void on_ranks(int64_t n, const std::function<void(World& world)>& body) {
  const auto on_gpus = [&](World& host) {
    const Place gpu = GPUPlace(static_cast<int>(host.rank()));
    host.rank_context().set_place(gpu);
    host.set_carrier(join_by_nccl(host, gpu, GpuReduction::kExact));
    body(host.carrier(gpu));
  };
  run_ranks(n, on_gpus, std::chrono::seconds(20));
}

}  // namespace phi::distributed::testing
