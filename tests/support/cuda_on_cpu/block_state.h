// State of the running block: its threads, and where they wait. For blocks.cc and warps.cc only.
#pragma once

#include <vector_types.h>

#include <array>
#include <cstdint>
#include <vector>

#include "cuda_on_cpu/threads.h"
#include "support/cuda_on_cpu/blocks.h"
#include "support/cuda_on_cpu/fibers.h"

namespace cuda_on_cpu {

struct Thread {
  enum class State { kFresh, kReady, kAtWarp, kAtBlock, kDone };
  State state = State::kFresh;
  Fiber* fiber = nullptr;
  uint3 index{};
  Site site{};            // source line of the wait
  Exchange kind{};        // warp operation that it waits for
  unsigned mask = 0;      // lanes that take part
  uint64_t value = 0;     // value that it contributes
  int operand = 0;        // lane, distance or mask of a shuffle
  int width = kWarp;      // of a shuffle
  char* token = nullptr;  // ThreadSanitizer token of its __syncwarp
  uint64_t received = 0;  // result
};

// One warp; sets of lanes are bit masks.
struct Warp {
  int first = 0;         // first thread
  int lanes = 0;         // number of threads
  unsigned ended = 0;    // lanes that have ended or do not exist
  unsigned waiting = 0;  // lanes that wait for others of this warp
  // ThreadSanitizer tokens. Each __syncwarp has its own, so that lanes that leave it late are not
  // ordered after what others have done since.
  std::array<char, 64> tokens{};
  size_t syncs = 0;
};

struct Block {
  const Grid* grid = nullptr;
  uint3 index{};
  int size = 0;     // threads
  int done = 0;     // threads that have ended
  int arrived = 0;  // threads at the barrier
  Vote vote = Vote::kNone;
  int votes = 0;                 // number of true predicates
  int result = 0;                // result of the last barrier's vote
  Site site{};                   // source line of the barrier
  size_t phase = 0;              // changes with each barrier
  std::array<char, 2> tokens{};  // ThreadSanitizer tokens of barriers, as in Warp
  int current = 0;
  std::vector<Thread> threads;
  std::vector<Warp> warps;

  Thread& thread() { return threads[static_cast<size_t>(current)]; }
  Thread& lane(const Warp& warp, int of_warp) {
    return threads[static_cast<size_t>(warp.first) + static_cast<size_t>(of_warp)];
  }
  /// Yields until another thread or the block lets this thread continue.
  void wait(Thread::State state, const Site& site);
};
extern Block now;

/// Completes the warp operations for which all lanes have arrived. Call after a lane has ended.
void settle(Warp& warp);

}  // namespace cuda_on_cpu
