// Selects the GPU of this rank and installs the communicator for arrays on it.
#include "api/dtensor/gpu.h"

#include "api/dtensor/gpu_of_rank.h"
#include "distributed/comm/device_backends.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi::distributed {

GpuMessages parse_gpu_messages(std::string_view word) {
  if (word == "nccl") return GpuMessages::kNccl;
  if (word == "host") return GpuMessages::kHost;
  throw errors::InvalidArgument(
      "messages is '{}'; use 'nccl' for messages between GPUs, or 'host' for messages through host "
      "memory.",
      word);
}

GpuReduction parse_gpu_reduction(std::string_view word) {
  if (word == "exact") return GpuReduction::kExact;
  if (word == "fast") return GpuReduction::kFast;
  throw errors::InvalidArgument("reduction is '{}'; use 'exact' or 'fast'.", word);
}

Place use_gpu(const GpuOptions& options) {
  World& world = World::current();
  const Place place = gpu_of_rank(world);
  world.set_device_communicator(nullptr);  // removes the device communicator of an earlier call
  if (options.messages == GpuMessages::kHost) {
    warn_of_shared_gpus(world, place);
  } else if (world.size() > 1 && world.transfers_data()) {
    world.set_device_communicator(make_device_communicator(world, place, options.reduction));
  }
  world.rank_context().set_place(place);
  world.rank_context().set_tf32(options.tf32);
  return place;
}

}  // namespace phi::distributed
