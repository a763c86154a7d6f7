// yield_point: marks a point in the code at which the interleaving with other threads matters, for
// race tests.
//
//   if (has_bytes()) return;
//   yield_point("storage.materialise.unlocked");
//   const SpinLockGuard held(busy_);
//
// In a build with AUTOPHI_YIELDS (preset tsan), a thread at a mark continues, yields its core,
// spins, or sleeps for some microseconds, as a seed determines. Rare interleavings thus become
// frequent. In other builds the call compiles to nothing.
#pragma once

#include <cstdint>

namespace phi {

#ifdef AUTOPHI_YIELDS
inline constexpr bool kYields = true;
#else
inline constexpr bool kYields = false;
#endif

/// The action of a thread at a mark.
struct Yield {
  enum class Kind : uint8_t { kGoOn, kGiveAway, kSpin, kSleep };
  Kind kind = Kind::kGoOn;
  uint32_t amount = 0;  // iterations of a loop, or microseconds
  friend bool operator==(const Yield&, const Yield&) = default;
};

namespace detail {
// Defined in yields/, which only builds with AUTOPHI_YIELDS compile.
void yield_here(const char* point);
void seed_yields(uint64_t seed);
/// Returns the action for hit number `hit` of a thread at a mark. With each seed other marks are
/// frequently delayed, so that other interleavings occur.
Yield draw_yield(uint64_t seed, uint64_t thread, const char* point, uint64_t hit);
}  // namespace detail

/// `point` names the mark: "unit.action.moment".
inline void yield_point([[maybe_unused]] const char* point) {
  if constexpr (kYields) detail::yield_here(point);
}

/// Sets the seed. The action at a mark depends on the seed, on the thread's position in the order
/// in which threads reach their first mark, and on the thread's number of hits of that mark.
inline void seed_yields([[maybe_unused]] uint64_t seed) {
  if constexpr (kYields) detail::seed_yields(seed);
}

}  // namespace phi
