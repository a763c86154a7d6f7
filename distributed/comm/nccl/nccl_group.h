// NcclGroup: a group whose collectives work on GPU arrays. They consist of messages, as on every
// backend. NCCL's own collectives are used where they produce the same result, or where the caller
// has selected them (GpuReduction::kFast).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distributed/comm/gpu_reduction.h"
#include "distributed/comm/group.h"
#include "distributed/comm/nccl/command_queue.h"
#include "distributed/comm/nccl/nccl_comms.h"

namespace phi::distributed {

class NcclGroup final : public Group {
 public:
  /// State that all groups of one rank share.
  struct SharedState {
    CommandQueue& queue;
    NcclComms& comms;
    GpuReduction reduction;
  };

  NcclGroup(Communicator& communicator, SharedState& shared, std::vector<int64_t> ranks,
            int64_t position, uint64_t hash);

 protected:
  bool run_by_library(const CollectiveCall& call, const void* in, void* out,
                      std::span<const int64_t> counts) override;

 private:
  SharedState& shared_;
};

}  // namespace phi::distributed
