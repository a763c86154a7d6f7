// The faults that nccl_on_cpu.h plants, as the stand-in asks for them. All under the lock of
// `all()`.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace cuda_on_cpu::nccl {

struct Faults {
  struct Stop {
    int calls;  // that still come
    ncclResult_t error;
  };
  int version = NCCL_VERSION_CODE;
  std::map<int, int> versions;  // by GPU, as are the others
  std::map<int, Stop> stops;
  std::set<int> hung_aborts;
  std::set<int> hung_calls;
  std::set<int> hung_ends;
  ncclResult_t of_peers = ncclSuccess;
  uint64_t polls = 0;  // until what is in progress is done; 0: drawn

  int version_of(int gpu) const;
  /// Counts a call of the rank with this GPU; what stops it, if it does not come.
  std::optional<ncclResult_t> count_call(int gpu);
};

}  // namespace cuda_on_cpu::nccl
