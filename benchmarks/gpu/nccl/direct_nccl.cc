// Calls of NCCL.
#include "benchmarks/gpu/nccl/direct_nccl.h"

#include <cstring>

#include "distributed/comm/nccl/nccl_functions.h"
#include "distributed/comm/nccl/unique_id.h"
#include "phi/common/errors.h"

namespace phi::gpu_bench {

using distributed::nccl;

namespace {

void check(ncclResult_t status, const char* what) {
  PHI_CHECK(status == ncclSuccess,
            errors::Unavailable("{} failed with {}.", what, distributed::describe(status)));
}

}  // namespace

struct DirectNccl::Communicator {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  int own = 0;
  int ranks = 0;
};

DirectNccl::DirectNccl(distributed::World& host, gpu::GpuDevice& device)
    : comm_(std::make_unique<Communicator>()) {
  device.make_current();
  comm_->stream = device.compute();
  comm_->own = static_cast<int>(host.rank());
  comm_->ranks = static_cast<int>(host.size());
  const auto shared = distributed::share_unique_id(host.everyone(), [] {
    ncclUniqueId made{};
    check(nccl().ncclGetUniqueId(&made), "ncclGetUniqueId");
    distributed::UniqueId id;
    std::memcpy(id.data(), &made, sizeof(made));
    return id;
  });
  ncclUniqueId id;
  std::memcpy(&id, shared.data(), sizeof(id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  check(nccl().ncclCommInitRankConfig(&comm_->comm, comm_->ranks, id, comm_->own, &config),
        "ncclCommInitRankConfig");
}

DirectNccl::~DirectNccl() { (void)nccl().ncclCommDestroy(comm_->comm); }

void DirectNccl::all_reduce(const void* in, void* out, size_t count) const {
  check(nccl().ncclAllReduce(in, out, count, ncclFloat32, ncclSum, comm_->comm, comm_->stream),
        "ncclAllReduce");
}

void DirectNccl::send_to_all(const void* part, std::byte* out, size_t nbytes) const {
  check(nccl().ncclGroupStart(), "ncclGroupStart");
  for (int peer = 0; peer < comm_->ranks; ++peer) {
    if (peer == comm_->own) continue;
    check(nccl().ncclSend(part, nbytes, ncclUint8, peer, comm_->comm, comm_->stream), "ncclSend");
    check(nccl().ncclRecv(out + static_cast<size_t>(peer) * nbytes, nbytes, ncclUint8, peer,
                          comm_->comm, comm_->stream),
          "ncclRecv");
  }
  check(nccl().ncclGroupEnd(), "ncclGroupEnd");
}

}  // namespace phi::gpu_bench
