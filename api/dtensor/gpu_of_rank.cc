// Maps ranks to the GPUs of their machines.
#include "api/dtensor/gpu_of_rank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "phi/core/device/device.h"
#include "phi/core/device/visible_gpus.h"

namespace phi::distributed {

Place gpu_of_rank(const World& world) {
  const Place place = GPUPlace(static_cast<int>(world.local_rank() % visible_gpus()));
  Device::of(place);
  return place;
}

void warn_of_shared_gpus(World& world, const Place& place) {
  if (world.size() == 1 || !world.transfers_data()) return;
  const GpuId own = id_of_gpu(place.index);
  std::vector<GpuId> all(static_cast<size_t>(world.size()));
  world.everyone().all_gather(own.data(), all.data(), std::ssize(own), DataType::INT64);
  if (world.rank() != 0) return;
  std::map<GpuId, std::vector<size_t>> ranks;
  for (size_t rank = 0; rank < all.size(); ++rank) ranks[all[rank]].push_back(rank);
  std::vector<std::string> shared;
  for (const auto& [gpu, sharing] : ranks) {
    if (sharing.size() > 1) shared.push_back(fmt::format("ranks {}", fmt::join(sharing, ", ")));
  }
  static std::atomic<bool> has_warned{false};
  if (shared.empty() || has_warned.exchange(true)) return;
  fmt::print(stderr,
             "several ranks share one GPU ({}): their work alternates there, and they share its "
             "memory. Start at most one rank per GPU on each machine, or check which GPUs "
             "CUDA_VISIBLE_DEVICES exposes.\n",
             fmt::join(shared, "; "));
}

}  // namespace phi::distributed
