// Tests are of the GPUs of the job's processes. Where there are fewer GPUs than processes these
// share them, which NCCL allows to ranks that seem to be on different machines; for tests alone.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdlib>

#include "distributed/comm/nccl/nccl_communicator.h"
#include "distributed/comm/world.h"
#include "phi/gpu/errors.h"
#include "support/mpi_ranks.h"

namespace phi::distributed::testing {

void prepare_for_tests(World& job) {
  int gpus = 0;
  PHI_GPU(cudaGetDeviceCount(&gpus));
  if (gpus < job.size()) {
    setenv("NCCL_HOSTID", fmt::format("rank-{}", job.rank()).c_str(), 0);
    setenv("NCCL_SOCKET_IFNAME", "lo", 0);
    setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 0);
  }
  const Place gpu = GPUPlace(static_cast<int>(job.local_rank() % gpus));
  if (job.device_communicator()) return;
  job.rank_context().set_place(gpu);
  job.set_device_communicator(make_nccl_communicator(job, gpu, GpuReduction::kExact));
}

}  // namespace phi::distributed::testing
