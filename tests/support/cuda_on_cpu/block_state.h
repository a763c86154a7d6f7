// The block that runs now: its threads, and where they wait. For blocks.cc and warps.cc only.
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
  Site site{};            // where it waits
  Exchange kind{};        // at the warp: what for,
  unsigned mask = 0;      // with whom,
  uint64_t value = 0;     // what it brings,
  int operand = 0;        // lane, distance or mask of a shuffle
  int width = kWarp;      // of a shuffle
  char* token = nullptr;  // of its __syncwarp, for ThreadSanitizer
  uint64_t received = 0;  // and what it gets
};

// The lanes of one warp, bit by bit.
struct Warp {
  int first = 0;         // its first thread
  int lanes = 0;         // how many threads it has
  unsigned ended = 0;    // lanes that need not be waited for; those that do not exist, too
  unsigned waiting = 0;  // lanes that wait for others of this warp
  // For ThreadSanitizer: each __syncwarp has one, so that lanes that go on from it late are not
  // ordered behind what others have done since.
  std::array<char, 64> tokens{};
  size_t syncs = 0;
};

struct Block {
  const Grid* grid = nullptr;
  uint3 index{};
  int size = 0;     // threads
  int done = 0;     // of them
  int arrived = 0;  // at the barrier
  Vote vote = Vote::kNone;
  int votes = 0;                 // predicates that are true
  int result = 0;                // of the last barrier's vote
  Site site{};                   // of the barrier
  size_t phase = 0;              // changes with each barrier
  std::array<char, 2> tokens{};  // of barriers, as in a warp
  int current = 0;
  std::vector<Thread> threads;
  std::vector<Warp> warps;

  Thread& thread() { return threads[static_cast<size_t>(current)]; }
  Thread& lane(const Warp& warp, int of_warp) {
    return threads[static_cast<size_t>(warp.first) + static_cast<size_t>(of_warp)];
  }
  /// Gives way until another thread or the block lets this one go on.
  void wait(Thread::State state, const Site& site);
};
extern Block now;

/// Lets lanes of this warp go on if all that they wait for have come; after one has ended.
void settle(Warp& warp);

}  // namespace cuda_on_cpu
