// Stub for builds without NCCL.
#include "distributed/comm/nccl/nccl_world.h"
#include "phi/common/errors.h"

namespace phi::distributed {

bool has_nccl() { return false; }

std::unique_ptr<World> make_nccl_world(World& /*host*/, const Place& /*gpu*/,
                                       GpuReduction /*reduction*/) {
  throw errors::Unavailable(
      "this build has no NCCL, which carries messages between GPUs. Install it (nccl.h and "
      "libnccl.so.2, of CUDA's packages; tools/setup --cuda brings it), configure again and build; "
      "or let messages go through the host's memory (messages: host of a job, "
      "GpuOptions::messages).");
}

}  // namespace phi::distributed
