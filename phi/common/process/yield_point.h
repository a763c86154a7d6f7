// yield_point: marks a place where it matters whether another thread comes in between.
//
//   if (has_bytes()) return;
//   yield_point("storage.materialise.unlocked");
//   const Held held(busy_);
//
// In a build with AUTOPHI_YIELDS (preset tsan) a thread that comes to a mark goes on, gives its
// core away, spins or sleeps some microseconds, as a seed says: orders that happen once in a
// thousand runs happen in each. In other builds the call is empty and nothing of it is left.
#pragma once

#include <cstdint>

namespace phi {

#ifdef AUTOPHI_YIELDS
inline constexpr bool kYields = true;
#else
inline constexpr bool kYields = false;
#endif

/// What a thread does at a mark.
struct Yield {
  enum class Kind : uint8_t { kGoOn, kGiveAway, kSpin, kSleep };
  Kind kind = Kind::kGoOn;
  uint32_t amount = 0;  // turns of a loop, or microseconds
  friend bool operator==(const Yield&, const Yield&) = default;
};

namespace detail {
// In yields/, which only builds with AUTOPHI_YIELDS compile.
void yield_here(const char* point);
void seed_yields(uint64_t seed);
/// A seed makes some marks busy and others quiet, so that threads meet in other places with each.
Yield draw_yield(uint64_t seed, uint64_t thread, const char* point, uint64_t hit);
}  // namespace detail

/// `point` names the place: "unit.action.moment".
inline void yield_point([[maybe_unused]] const char* point) {
  if constexpr (kYields) detail::yield_here(point);
}

/// What follows depends on `seed`, on the order in which threads come to their first mark, and for
/// each of them on how often it has come to a mark of that name.
inline void seed_yields([[maybe_unused]] uint64_t seed) {
  if constexpr (kYields) detail::seed_yields(seed);
}

}  // namespace phi
