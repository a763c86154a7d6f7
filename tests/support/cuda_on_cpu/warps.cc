// Warp-wide operations. The last lane that arrives computes the results of all.
#include <fmt/format.h>

#include <array>
#include <bit>

#include "cuda_on_cpu/tiles.h"
#include "support/cuda_on_cpu/block_state.h"
#include "support/cuda_on_cpu/failure.h"

namespace cuda_on_cpu {
namespace {

using State = Thread::State;

constexpr uint64_t kUndefined = ~uint64_t{0};  // value of a lane that does not take part; NaN

const char* name_of(Exchange kind) {
  switch (kind) {
    case Exchange::kSync:
      return "__syncwarp";
    case Exchange::kShuffle:
      return "__shfl_sync";
    case Exchange::kUp:
      return "__shfl_up_sync";
    case Exchange::kDown:
      return "__shfl_down_sync";
    case Exchange::kXor:
      return "__shfl_xor_sync";
    case Exchange::kBallot:
      return "__ballot_sync";
    case Exchange::kAny:
      return "__any_sync";
    case Exchange::kAll:
      return "__all_sync";
    case Exchange::kTiles:
      return "a function of tensor cores";
  }
  return "";
}

template <class Body>
void for_each_lane(unsigned lanes, Body body) {
  for (; lanes != 0; lanes &= lanes - 1) body(std::countr_zero(lanes));
}

// Fails the test unless these lanes, which wait for each other, wait at the same operation.
void check_same(const Warp& warp, unsigned present) {
  const Thread& a = now.lane(warp, std::countr_zero(present));
  for_each_lane(present, [&](int lane) {
    const Thread& b = now.lane(warp, lane);
    if (b.kind == a.kind) return;
    fail(fmt::format("lanes of a warp meet in {} at {}:{} and in {} at {}:{}, in {}",
                     name_of(a.kind), a.site.file, a.site.line, name_of(b.kind), b.site.file,
                     b.site.line, where_now()));
  });
}

// The lane from which `lane` receives its value in a shuffle.
int source(const Thread& self, int lane) {
  const int begin = lane & ~(self.width - 1);
  const int end = begin + self.width;
  switch (self.kind) {
    case Exchange::kShuffle:
      return begin + (self.operand & (self.width - 1));
    case Exchange::kUp:
      return lane - self.operand >= begin ? lane - self.operand : lane;
    case Exchange::kDown:
      return lane + self.operand < end ? lane + self.operand : lane;
    default:  // of kXor: lanes of groups that come later are not read
      return (lane ^ self.operand) < end ? lane ^ self.operand : lane;
  }
}

void run_together(const Warp& warp, unsigned present) {
  if (present != ~0u) {
    fail(fmt::format("tensor cores need all 32 lanes of a warp, not {:#010x}, in {}", present,
                     where_now()));
  }
  WarpWork::Lanes parts{};
  for_each_lane(present, [&](int lane) {
    parts[static_cast<size_t>(lane)] =
        reinterpret_cast<const WarpWork*>(now.lane(warp, lane).value);
  });
  parts[0]->run(parts);
}

// Computes the results of these lanes.
void exchange(const Warp& warp, unsigned present) {
  const Exchange kind = now.lane(warp, std::countr_zero(present)).kind;
  unsigned votes = 0;
  for_each_lane(present, [&](int lane) {
    if (now.lane(warp, lane).value != 0) votes |= 1u << lane;
  });
  if (kind == Exchange::kTiles) run_together(warp, present);
  for_each_lane(present, [&](int lane) {
    Thread& self = now.lane(warp, lane);
    switch (kind) {
      case Exchange::kSync:
      case Exchange::kTiles:
        break;
      case Exchange::kBallot:
        self.received = votes;
        break;
      case Exchange::kAny:
        self.received = votes != 0 ? 1 : 0;
        break;
      case Exchange::kAll:
        self.received = votes == present ? 1 : 0;
        break;
      default: {
        const int from = source(self, lane);
        self.received = (present >> from & 1) != 0 ? now.lane(warp, from).value : kUndefined;
      }
    }
  });
}

// Completes the operation of this mask if all its lanes that have not ended are waiting.
bool finish(Warp& warp, unsigned mask) {
  const unsigned present = mask & ~warp.ended;
  if ((present & ~warp.waiting) != 0) return false;
  bool same = true;
  for_each_lane(present, [&](int lane) { same &= now.lane(warp, lane).mask == mask; });
  if (!same) return false;  // some wait for other lanes
  check_same(warp, present);
  exchange(warp, present);
  for_each_lane(present, [&](int lane) { now.lane(warp, lane).state = State::kReady; });
  warp.waiting &= ~present;
  return true;
}

void check_call(const Thread& self, int lane) {
  if ((self.mask >> lane & 1) == 0) {
    fail(fmt::format("lane {} calls {} at {}:{} with mask {:#010x}, which does not name it, in {}",
                     lane, name_of(self.kind), self.site.file, self.site.line, self.mask,
                     where_now()));
  }
  if (self.width < 1 || self.width > kWarp || (self.width & (self.width - 1)) != 0) {
    fail(fmt::format("{} at {}:{} has width {}, which is not a power of two up to 32, in {}",
                     name_of(self.kind), self.site.file, self.site.line, self.width, where_now()));
  }
}

// The token of the __syncwarp in which lanes of this mask wait, or of a new one.
char* token_of(Warp& warp, unsigned mask) {
  char* token = nullptr;
  for_each_lane(warp.waiting & mask, [&](int lane) {
    const Thread& other = now.lane(warp, lane);
    if (other.mask == mask && other.kind == Exchange::kSync) token = other.token;
  });
  return token != nullptr ? token : &warp.tokens[warp.syncs++ % warp.tokens.size()];
}

}  // namespace

void settle(Warp& warp) {
  for_each_lane(warp.waiting, [&](int lane) {
    if ((warp.waiting >> lane & 1) != 0) finish(warp, now.lane(warp, lane).mask);
  });
}

void work_together(const WarpWork& part, const Site& site) {
  warp_exchange(Exchange::kTiles, ~0u, reinterpret_cast<uint64_t>(&part), 0, kWarp, site);
}

uint64_t warp_exchange(Exchange kind, unsigned mask, uint64_t value, int operand, int width,
                       const Site& site) {
  Thread& self = now.thread();
  const int lane = now.current % kWarp;
  Warp& warp = now.warps[static_cast<size_t>(now.current / kWarp)];
  self.kind = kind;
  self.mask = mask;
  self.value = value;
  self.operand = operand;
  self.width = width;
  self.site = site;
  check_call(self, lane);
  if constexpr (kFibersAreThreads) {
    if (kind == Exchange::kSync) order_after(self.token = token_of(warp, mask));
  }
  self.state = State::kAtWarp;
  warp.waiting |= 1u << lane;
  if (!finish(warp, mask)) self.fiber->leave();
  if (kind == Exchange::kSync) order_before(self.token);
  return self.received;
}

}  // namespace cuda_on_cpu
