// NCCL: arrays of GPUs go from GPU to GPU as they lie. Where NCCL is not found the twin
// without_nccl/no_nccl_world.cc is built instead.
#pragma once

#include <cstdint>
#include <memory>

#include "distributed/comm/world.h"

namespace phi::distributed {

/// How GPUs add up and otherwise reduce what lies on several of them.
enum class GpuReduction : uint8_t {
  /// In the order of positions, 16-bit floats in float and rounded once: the bits of every backend.
  kExact,
  /// By NCCL's own algorithms, where NCCL has the dtype and the kind: in an order that it chooses,
  /// 16-bit floats rounded after each step.
  kFast,
};

/// Whether this build has NCCL.
bool has_nccl();

/// The carrier of `host` between the GPUs of its ranks, of which `gpu` is this one's: a call of
/// all ranks. What they say of each other goes over `host`; World::set_carrier gives it to that.
///
/// Errors, alike on all ranks: Unavailable if there is no NCCL, in this build or on the machine, or
/// it is older than 2.27; PreconditionNotMet if ranks have different versions of it, or share a
/// GPU; InvalidArgument if the environment of one has NCCL_COMM_BLOCKING=1.
std::unique_ptr<World> join_by_nccl(World& host, const Place& gpu, GpuReduction reduction);

}  // namespace phi::distributed
