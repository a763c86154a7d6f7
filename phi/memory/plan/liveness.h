// Lifetimes of a program's values, and an arena placement in which no two values overlap in both
// time and address. Used if all values fit on the device, so that nothing has to move.
#pragma once

#include "phi/memory/plan/program_index.h"

namespace phi::memory {

/// A value that is alive during the steps [begin, end].
struct Lifetime {
  SwapBufferId buffer = 0;
  int64_t size = 0;
  int32_t begin = 0;
  int32_t end = 0;
};

/// Returns the lifetimes of all values, sorted by buffer, then by time. A full overwrite of a
/// buffer ends a value and begins another one. A kept value is alive during all steps.
std::vector<Lifetime> lifetimes_of(const ProgramIndex& index);

/// The most bytes that are alive at one step: a lower bound of every placement's arena.
int64_t live_bytes(const std::vector<Lifetime>& lifetimes);

struct Placement {
  std::vector<int64_t> offsets;  // by lifetime
  int64_t arena_bytes = 0;
};

/// Returns the smaller of two placements: largest values first, and in the order of steps. Takes
/// O(n log n) for n lifetimes; the first placement is skipped if too many of them are alive at
/// once, unless the second one fails.
Placement place_lifetimes(const std::vector<Lifetime>& lifetimes);

}  // namespace phi::memory
