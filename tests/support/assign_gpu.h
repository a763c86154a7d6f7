// A rank of a test takes its GPU: of several ranks, each its own where there are enough.
#pragma once

#include "distributed/api.h"
#include "distributed/comm/nccl/nccl_communicator.h"
#include "distributed/comm/world.h"

namespace phi::distributed::testing {

/// Messages go by NCCL between GPUs of their own, where the build has it and the test wants it,
/// else through the host: a test of many worlds cannot wait for NCCL to join each.
inline void assign_gpu(World& world, int gpus, GpuMessages messages = GpuMessages::kNccl) {
  const Place gpu = GPUPlace(static_cast<int>(world.rank()) % gpus);
  world.rank_context().set_place(gpu);
  const bool by_nccl = messages == GpuMessages::kNccl && has_nccl();
  if (by_nccl && world.size() > 1 && world.size() <= gpus)
    world.set_device_communicator(make_nccl_communicator(world, gpu, GpuReduction::kExact));
}

}  // namespace phi::distributed::testing
