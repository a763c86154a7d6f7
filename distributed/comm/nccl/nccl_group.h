// NcclGroup: a group whose arrays lie on GPUs. Its calls are made of messages, as everywhere;
// NCCL's own collectives serve where they give the same, or where they have been asked for.
#pragma once

#include <functional>
#include <vector>

#include "distributed/comm/group.h"
#include "distributed/comm/nccl/communicators.h"
#include "distributed/comm/nccl/line.h"
#include "distributed/comm/nccl/nccl_world.h"

namespace phi::distributed {

class NcclGroup final : public Group {
 public:
  /// What all groups of one rank share.
  struct Means {
    Line& line;
    Communicators& comms;
    GpuReduction reduction;
    /// Returns when all members have come to the call, on the host.
    std::function<void(const Call& call)> agree;
    /// The host's group of the same ranks.
    std::function<Group&(std::span<const int64_t> ranks)> control;
  };

  NcclGroup(World& world, Means& means, std::vector<int64_t> ranks, int64_t position,
            uint64_t hash);

 protected:
  bool run_by_library(const Call& call, const void* in, void* out,
                      std::span<const int64_t> counts) override;

 private:
  Means& means_;
};

}  // namespace phi::distributed
