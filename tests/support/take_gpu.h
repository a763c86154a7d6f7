// A rank of a test takes its GPU: of several ranks, each its own where there are enough.
#pragma once

#include "distributed/comm/nccl/nccl_world.h"
#include "distributed/comm/world.h"

namespace phi::distributed::testing {

/// Messages go by NCCL between GPUs of their own, where the build has it, else through the host.
inline void take_gpu(World& world, int gpus) {
  const Place gpu = GPUPlace(static_cast<int>(world.rank()) % gpus);
  world.rank_context().set_place(gpu);
  if (world.size() > 1 && world.size() <= gpus && has_nccl())
    world.set_carrier(join_by_nccl(world, gpu, GpuReduction::kExact));
}

}  // namespace phi::distributed::testing
