// The faults that nccl_on_cpu.h injects, as the NCCL emulator queries them. All functions require
// the lock of `all()`.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace cuda_on_cpu::nccl {

struct Faults {
  struct Stop {
    int calls;  // calls before the rank stops
    ncclResult_t error;
  };
  int version = NCCL_VERSION_CODE;
  std::map<int, int> versions;  // key: GPU, as in the other maps
  std::map<int, Stop> stops;
  std::set<int> hung_aborts;
  std::set<int> hung_calls;
  std::set<int> hung_ends;
  ncclResult_t of_peers = ncclSuccess;
  uint64_t polls = 0;  // polls until a call in progress completes; 0: drawn

  int version_of(int gpu) const;
  /// Counts a call of the rank with this GPU. Returns the error that stops the rank, if the call is
  /// not executed.
  std::optional<ncclResult_t> count_call(int gpu);
};

}  // namespace cuda_on_cpu::nccl
