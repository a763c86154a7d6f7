// Messages and collectives of the NCCL emulator: the checks of each call. As NCCL with
// NCCL_CHECK_POINTERS=1, it checks buffers, and it requires the communicator's GPU to be current.
#include <fmt/format.h>

#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/nccl_groups.h"

namespace cuda_on_cpu::nccl {
namespace {

ncclResult_t check_numbers(const char* name, const Call& call, const ncclComm& comm) {
  const bool has_other = !call.collective() || call.kind == Kind::kBroadcast;
  if (has_other && (call.other < 0 || call.other >= comm.clique->ranks)) {
    return refused(ncclInvalidArgument,
                   fmt::format("{}: rank {} of a communicator with ranks 0 to {}", name, call.other,
                               comm.clique->ranks - 1));
  }
  if (call.type < 0 || call.type >= ncclNumTypes) {
    return refused(ncclInvalidArgument,
                   fmt::format("{}: type {}", name, static_cast<int>(call.type)));
  }
  if (call.op < 0 || call.op >= ncclNumOps) {
    return refused(ncclInvalidArgument,
                   fmt::format("{}: operation {}", name, static_cast<int>(call.op)));
  }
  return ncclSuccess;
}

ncclResult_t check_place(const char* name, const ncclComm& comm, cudaStream_t stream) {
  if (check_stream(stream) != cudaSuccess) {
    return refused(ncclInvalidArgument, fmt::format("{}: a stream that does not exist", name));
  }
  if (stream->device != comm.device || current_device() != comm.device) {
    return refused(ncclInvalidUsage,
                   fmt::format("{}: a communicator of GPU {}, a stream of GPU {}, and the current "
                               "GPU is {}",
                               name, comm.device, stream->device, current_device()));
  }
  return ncclSuccess;
}

ncclResult_t check_buffer(const char* name, const char* which, const void* buffer, size_t bytes,
                          int device) {
  if (bytes == 0) return ncclSuccess;
  const Gpu* owner = gpu_of(buffer);
  const auto found = owner == nullptr ? std::nullopt : owner->arena.find(buffer);
  if (!found || owner->index != device) {
    return refused(
        ncclInvalidArgument,
        fmt::format("{}: the {} buffer is not memory of GPU {}, but of {}", name, which, device,
                    owner == nullptr ? "the host" : fmt::format("GPU {}", owner->index)));
  }
  const size_t left =
      static_cast<size_t>(found->begin + found->size - static_cast<const std::byte*>(buffer));
  if (bytes <= left) return ncclSuccess;
  return refused(ncclInvalidArgument, fmt::format("{}: {} bytes of the {} buffer, which has {}",
                                                  name, bytes, which, left));
}

// For an in-place call a rank's part must be at its final position. NCCL supports no other overlap.
ncclResult_t check_overlap(const char* name, const Call& call, const ncclComm& comm) {
  const auto* in = static_cast<const std::byte*>(call.in);
  const auto* out = static_cast<const std::byte*>(call.out);
  const size_t n_in = call.bytes_in(comm.rank, comm.clique->ranks);
  const size_t n_out = call.bytes_out(comm.clique->ranks);
  if (n_in == 0 || n_out == 0 || in + n_in <= out || out + n_out <= in) return ncclSuccess;
  const size_t own = static_cast<size_t>(comm.rank) * call.bytes();
  const bool right = call.kind == Kind::kAllGather       ? in == out + own
                     : call.kind == Kind::kReduceScatter ? out == in + own
                                                         : in == out;
  if (right) return ncclSuccess;
  return refused(ncclInvalidArgument,
                 fmt::format("{}: the buffers overlap otherwise than in place", name));
}

ncclResult_t check(const char* name, const Call& call, ncclComm_t comm, cudaStream_t stream) {
  ncclResult_t result = ncclSuccess;
  {
    const Lock lock(all().mutex);
    result = check_ready(comm, name);
  }
  const auto then = [&](auto next) { result = result == ncclSuccess ? next() : result; };
  then([&] { return check_numbers(name, call, *comm); });
  then([&] { return check_place(name, *comm, stream); });
  then([&] {
    const size_t bytes = call.bytes_in(comm->rank, comm->clique->ranks);
    return check_buffer(name, "send", call.in, bytes, comm->device);
  });
  then([&] {
    const size_t bytes = call.bytes_out(comm->clique->ranks);
    return check_buffer(name, "receive", call.out, bytes, comm->device);
  });
  then([&] { return check_overlap(name, call, *comm); });
  return result;
}

// A single call is a group of one.
ncclResult_t post(const char* name, const Call& call, ncclComm_t comm, cudaStream_t stream) {
  ncclGroupStart();
  const ncclResult_t checked = check(name, call, comm, stream);
  const bool nothing = call.collective() && call.count == 0;  // empty messages are still matched
  if (checked != ncclSuccess) {
    refuse_group(checked);
  } else if (!nothing) {
    add_to_group(*comm, stream, call);
  }
  const ncclResult_t ended = ncclGroupEnd();
  return checked != ncclSuccess ? checked : ended;
}

}  // namespace
}  // namespace cuda_on_cpu::nccl

using namespace cuda_on_cpu::nccl;

ncclResult_t ncclSend(const void* in, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  const Call call{.kind = Kind::kSend, .in = in, .count = count, .type = type, .other = peer};
  return post("ncclSend", call, comm, stream);
}

ncclResult_t ncclRecv(void* out, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  const Call call{.kind = Kind::kReceive, .out = out, .count = count, .type = type, .other = peer};
  return post("ncclRecv", call, comm, stream);
}

ncclResult_t ncclAllReduce(const void* in, void* out, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return post("ncclAllReduce", {Kind::kAllReduce, in, out, count, type, op}, comm, stream);
}

ncclResult_t ncclReduceScatter(const void* in, void* out, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return post("ncclReduceScatter", {Kind::kReduceScatter, in, out, count, type, op}, comm, stream);
}

ncclResult_t ncclAllGather(const void* in, void* out, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return post("ncclAllGather", {Kind::kAllGather, in, out, count, type}, comm, stream);
}

ncclResult_t ncclBroadcast(const void* in, void* out, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return post("ncclBroadcast", {Kind::kBroadcast, in, out, count, type, ncclSum, root}, comm,
              stream);
}
