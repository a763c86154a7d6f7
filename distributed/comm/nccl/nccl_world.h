// The NCCL backend: transfers arrays directly between GPUs. Builds without NCCL use the stub
// without_nccl/nccl_world_stub.cc.
#pragma once

#include <cstdint>
#include <memory>

#include "distributed/comm/gpu_reduction.h"
#include "distributed/comm/world.h"

namespace phi::distributed {

/// Whether this build supports NCCL.
bool has_nccl();

/// Creates the device communicator of `host` over NCCL; collective over all ranks of `host`. `gpu`
/// is this rank's GPU. Control messages go over `host`, which must outlive the result. Install it
/// with World::set_device_communicator.
///
/// Errors, the same on all ranks: Unavailable if this build or the machine has no NCCL, or if its
/// version is below 2.27; PreconditionNotMet if ranks have different versions or share a GPU;
/// InvalidArgument if NCCL_COMM_BLOCKING=1 in the environment of a rank.
std::unique_ptr<World> make_nccl_world(World& host, const Place& gpu, GpuReduction reduction);

}  // namespace phi::distributed
