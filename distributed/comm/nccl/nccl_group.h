// NcclGroup: a group whose collectives work on GPU arrays. They consist of messages, as on every
// backend. NCCL's own collectives are used where they produce the same result, or where the caller
// has selected them (GpuReduction::kFast).
#pragma once

#include <functional>
#include <vector>

#include "distributed/comm/group.h"
#include "distributed/comm/nccl/command_queue.h"
#include "distributed/comm/nccl/nccl_communicators.h"
#include "distributed/comm/nccl/nccl_world.h"

namespace phi::distributed {

class NcclGroup final : public Group {
 public:
  /// State that all groups of one rank share.
  struct SharedState {
    CommandQueue& queue;
    NcclCommunicators& comms;
    GpuReduction reduction;
    /// Waits on the host until all members have reached the call.
    std::function<void(const CollectiveCall& call)> wait_for_members;
    /// Returns the host group of the same ranks.
    std::function<Group&(std::span<const int64_t> ranks)> control;
  };

  NcclGroup(World& world, SharedState& shared, std::vector<int64_t> ranks, int64_t position,
            uint64_t hash);

 protected:
  bool run_by_library(const CollectiveCall& call, const void* in, void* out,
                      std::span<const int64_t> counts) override;

 private:
  SharedState& shared_;
};

}  // namespace phi::distributed
