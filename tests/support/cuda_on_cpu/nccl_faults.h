// The faults that nccl_on_cpu.h plants, as the stand-in asks for them. All under the lock of
// `all()`.
#pragma once

#include <nccl.h>

#include <map>
#include <optional>

namespace cuda_on_cpu::nccl {

struct Faults {
  struct Stop {
    int calls;  // that still come
    ncclResult_t error;
  };
  int version = NCCL_VERSION_CODE;
  std::map<int, int> versions;  // by GPU, as are the others
  std::map<int, Stop> stops;
  std::map<int, bool> hangs;
  ncclResult_t of_peers = ncclSuccess;

  int version_of(int gpu) const;
  /// Counts a call of the rank with this GPU; what stops it, if it does not come.
  std::optional<ncclResult_t> count_call(int gpu);
};

}  // namespace cuda_on_cpu::nccl
