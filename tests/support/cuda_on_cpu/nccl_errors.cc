// Results and messages of the NCCL emulator.
#include <fmt/format.h>

#include "support/cuda_on_cpu/nccl_types.h"

namespace cuda_on_cpu::nccl {
namespace {

thread_local std::string last_error;

}  // namespace

ncclResult_t refused(ncclResult_t result, const std::string& text) {
  last_error = text;
  return result;
}

size_t size_of(ncclDataType_t type) {
  constexpr size_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return kSizes[type];
}

std::string described(const Call& call) {
  constexpr const char* kTypes[] = {"int8",    "uint8",    "int32",      "uint32",
                                    "int64",   "uint64",   "float16",    "float32",
                                    "float64", "bfloat16", "float8e4m3", "float8e5m2"};
  constexpr const char* kOps[] = {"sum", "product", "maximum", "minimum", "average"};
  const std::string what = fmt::format("{} {}", call.count, kTypes[call.type]);
  switch (call.kind) {
    case Kind::kSend:
      return fmt::format("send of {} to rank {}", what, call.other);
    case Kind::kReceive:
      return fmt::format("receive of {} from rank {}", what, call.other);
    case Kind::kAllReduce:
      return fmt::format("all-reduce of {}, {}", what, kOps[call.op]);
    case Kind::kReduceScatter:
      return fmt::format("reduce-scatter to {}, {}", what, kOps[call.op]);
    case Kind::kAllGather:
      return fmt::format("all-gather of {}", what);
    case Kind::kBroadcast:
      return fmt::format("broadcast of {} from rank {}", what, call.other);
  }
  return what;
}

std::string described(const ncclComm& comm) {
  const Clique& clique = *comm.clique;
  const std::string name = clique.name.empty() ? "" : fmt::format(" \"{}\"", clique.name);
  return fmt::format("communicator {}{}, rank {} of {}", clique.number, name, comm.rank,
                     clique.ranks);
}

}  // namespace cuda_on_cpu::nccl

const char* ncclGetLastError(ncclComm_t /*comm*/) { return cuda_on_cpu::nccl::last_error.c_str(); }

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}
