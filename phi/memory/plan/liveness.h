// When the values of a program are alive, and offsets for them that never overlap in both time and
// address: how buffers are placed when all fit and nothing needs to move.
#pragma once

#include "phi/memory/plan/program_index.h"

namespace phi::memory {

/// A value, alive during the steps [begin, end].
struct Lifetime {
  BufferId buffer = 0;
  int64_t size = 0;
  int32_t begin = 0;
  int32_t end = 0;
};

/// By buffer, then by time. A buffer that is written whole again has a value before and one after.
/// What is kept is alive throughout.
std::vector<Lifetime> lifetimes_of(const ProgramIndex& index);

/// The most bytes alive at one step: no placement is smaller.
int64_t live_bytes(const std::vector<Lifetime>& lifetimes);

struct Placement {
  std::vector<int64_t> offsets;  // of each lifetime
  int64_t arena_bytes = 0;
};

/// The smallest found by placing the largest values first, and by following the steps. Takes O(n
/// log n) for n lifetimes, and for the first way as long as few enough of them are alive at once.
Placement place_lifetimes(const std::vector<Lifetime>& lifetimes);

}  // namespace phi::memory
