// Stub for builds without NCCL.
#include "distributed/comm/nccl/nccl_communicator.h"
#include "phi/common/errors.h"

namespace phi::distributed {

bool has_nccl() { return false; }

std::unique_ptr<Communicator> make_nccl_communicator(World& /*world*/, const Place& /*gpu*/,
                                                     GpuReduction /*reduction*/) {
  throw errors::Unavailable(
      "this build has no NCCL, which messages between GPUs need. Install it (nccl.h and "
      "libnccl.so.2, from CUDA's packages; tools/setup --cuda installs it), configure again and "
      "build; or send messages through host memory (messages: host of a job, "
      "GpuOptions::messages).");
}

}  // namespace phi::distributed
