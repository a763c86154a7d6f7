// Chooses and performs yields. All atomics are relaxed: stronger ones would synchronise threads and
// hide the races that a test looks for.
#include "phi/common/process/yield_point.h"

#include <array>
#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>

#include "phi/common/split_mix.h"

namespace phi::detail {
namespace {

std::atomic<uint64_t> current_seed{1};
std::atomic<uint64_t> next_thread{0};

// Trivially destructible, because destructors of other thread_local objects may reach marks when a
// thread ends.
struct ThreadState {
  uint64_t seed = 0;  // the seed for which the other members count
  uint64_t thread = 0;
  std::array<uint64_t, 256> hits{};  // indexed by the hash of a mark
};

ThreadState& state_for(uint64_t seed) {
  thread_local ThreadState state;
  if (state.seed != seed) {
    state = {seed, next_thread.fetch_add(1, std::memory_order_relaxed), {}};
  }
  return state;
}

// FNV-1a.
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

void spin(uint32_t turns) {
  for (uint32_t turn = 0; turn < turns; ++turn) {
    asm volatile("");  // keeps the compiler from removing the loop
  }
}

}  // namespace

Yield draw_yield(uint64_t seed, uint64_t thread, const char* point, uint64_t hit) {
  const uint64_t mark = split_mix(seed ^ hash_of(point));
  const uint64_t random = split_mix(mark + split_mix(thread * 0x10001 + hit));
  const auto amount = static_cast<uint32_t>(random >> 32);
  const bool busy = mark % 4 == 0;
  const uint64_t turn = random % 16;
  if (turn < (busy ? 8u : 1u)) return {Yield::Kind::kSleep, amount % 60};
  if (turn < (busy ? 10u : 3u)) return {Yield::Kind::kSpin, 100 + amount % 900};
  if (turn < (busy ? 14u : 6u)) return {Yield::Kind::kGiveAway, 0};
  return {};
}

void seed_yields(uint64_t seed) {
  next_thread.store(0, std::memory_order_relaxed);
  current_seed.store(seed, std::memory_order_relaxed);
}

void yield_here(const char* point) {
  const uint64_t seed = current_seed.load(std::memory_order_relaxed);
  ThreadState& state = state_for(seed);
  uint64_t& hits = state.hits[hash_of(point) % state.hits.size()];
  const Yield yield = draw_yield(seed, state.thread, point, hits++);
  switch (yield.kind) {
    case Yield::Kind::kGoOn:
      return;
    case Yield::Kind::kGiveAway:
      return std::this_thread::yield();
    case Yield::Kind::kSpin:
      return spin(yield.amount);
    case Yield::Kind::kSleep:
      return std::this_thread::sleep_for(std::chrono::microseconds(yield.amount));
  }
}

}  // namespace phi::detail
