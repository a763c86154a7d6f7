// The NCCL backend: transfers arrays directly between GPUs. Builds without NCCL use the stub
// without_nccl/nccl_communicator_stub.cc.
#pragma once

#include <cstdint>
#include <memory>

#include "distributed/comm/communicator.h"
#include "distributed/comm/gpu_reduction.h"
#include "phi/common/place.h"

namespace phi::distributed {

/// Whether this build supports NCCL.
bool has_nccl();

/// Creates the communicator of `world` between GPUs; collective over all its ranks. `gpu` is this
/// rank's GPU. Control messages go over the communicator of host memory; `world` must outlive the
/// result. Install it with World::set_device_communicator.
///
/// Errors, the same on all ranks: Unavailable if this build or the machine has no NCCL, or if its
/// version is below 2.27; PreconditionNotMet if ranks have different versions or share a GPU;
/// InvalidArgument if NCCL_COMM_BLOCKING=1 in the environment of a rank.
std::unique_ptr<Communicator> make_nccl_communicator(World& world, const Place& gpu,
                                                     GpuReduction reduction);

}  // namespace phi::distributed
