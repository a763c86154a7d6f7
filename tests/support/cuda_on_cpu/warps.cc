// What the lanes of a warp do together: the last one that arrives works out what each gets.
#include <fmt/format.h>

#include <bit>

#include "cuda_on_cpu/tiles.h"
#include "support/cuda_on_cpu/block_state.h"
#include "support/cuda_on_cpu/failure.h"

namespace cuda_on_cpu {
namespace {

using State = Thread::State;

constexpr uint64_t kUndefined = ~uint64_t{0};  // what a lane that takes no part gives; NaN

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
      return "a function of nvcuda::wmma";
  }
  return "";
}

// One warp of the block that runs.
class Warp {
 public:
  explicit Warp(int index)
      : first_(index * kWarp), lanes_(std::min(kWarp, block().size - first_)) {}

  int lanes() const { return lanes_; }
  Thread& lane(int i) const { return block().threads[static_cast<size_t>(first_ + i)]; }
  bool waits(int i) const { return i < lanes_ && lane(i).state == State::kAtWarp; }

  /// Lanes of `mask` that exist and have not ended, or only those of them that wait with this mask.
  unsigned alive(unsigned mask) const {
    return those(mask, [this](int i) { return lane(i).state != State::kDone; });
  }
  unsigned waiting(unsigned mask) const {
    return those(mask, [&](int i) { return waits(i) && lane(i).mask == mask; });
  }

  void finish(unsigned mask, unsigned present) const;

 private:
  template <class Condition>
  unsigned those(unsigned mask, Condition condition) const {
    unsigned found = 0;
    for (int i = 0; i < lanes_; ++i) {
      if ((mask >> i & 1) != 0 && condition(i)) found |= 1u << i;
    }
    return found;
  }
  void check_same(unsigned present) const;
  int source(int i) const;
  uint64_t ballot(unsigned present) const {
    return those(present, [this](int i) { return lane(i).value != 0; });
  }

  int first_;
  int lanes_;
};

void Warp::check_same(unsigned present) const {
  const Thread& a = lane(std::countr_zero(present));
  for (int i = 0; i < lanes_; ++i) {
    const Thread& b = lane(i);
    if ((present >> i & 1) == 0 || b.kind == a.kind) continue;
    fail(fmt::format("lanes of a warp meet in {} at {}:{} and in {} at {}:{}, in {}",
                     name_of(a.kind), a.site.file, a.site.line, name_of(b.kind), b.site.file,
                     b.site.line, where_now()));
  }
}

// The lane whose value lane `i` gets.
int Warp::source(int i) const {
  const Thread& self = lane(i);
  const int begin = i / self.width * self.width;
  const int end = begin + self.width;
  switch (self.kind) {
    case Exchange::kShuffle:
      return begin + (self.operand & (self.width - 1));
    case Exchange::kUp:
      return i - self.operand >= begin ? i - self.operand : i;
    case Exchange::kDown:
      return i + self.operand < end ? i + self.operand : i;
    default:  // of kXor: lanes of groups that come later are not read
      return (i ^ self.operand) < end ? i ^ self.operand : i;
  }
}

void Warp::finish(unsigned mask, unsigned present) const {
  check_same(present);
  const Exchange kind = lane(std::countr_zero(present)).kind;
  const uint64_t votes = ballot(present);
  if (kind == Exchange::kTiles) {
    if (present != ~0u) {
      fail(fmt::format("nvcuda::wmma needs all 32 lanes of a warp, not {:#010x}, in {}", present,
                       where_now()));
    }
    std::array<const TileProduct*, kWarp> parts{};
    for (int i = 0; i < kWarp; ++i) {
      parts[static_cast<size_t>(i)] = reinterpret_cast<const TileProduct*>(lane(i).value);
    }
    multiply_tiles(parts);
  }
  for (int i = 0; i < lanes_; ++i) {
    if ((present >> i & 1) == 0) continue;
    Thread& self = lane(i);
    self.state = State::kReady;
    if (kind == Exchange::kBallot) {
      self.received = votes;
    } else if (kind == Exchange::kAny) {
      self.received = votes != 0 ? 1 : 0;
    } else if (kind == Exchange::kAll) {
      self.received = votes == present ? 1 : 0;
    } else if (kind != Exchange::kSync && kind != Exchange::kTiles) {
      const int from = source(i);
      self.received = (present >> from & 1) != 0 ? lane(from).value : kUndefined;
    }
  }
  static_cast<void>(mask);
}

}  // namespace

void settle_warp(int index) {
  const Warp warp(index);
  for (int i = 0; i < warp.lanes(); ++i) {
    if (!warp.waits(i)) continue;
    const unsigned mask = warp.lane(i).mask;
    const unsigned present = warp.waiting(mask);
    if (present == warp.alive(mask)) warp.finish(mask, present);
  }
}

uint64_t warp_exchange(Exchange kind, unsigned mask, uint64_t value, int operand, int width,
                       const Site& site) {
  Block& now = block();
  const int index = now.current;
  Thread& self = now.thread();
  const Warp warp(index / kWarp);
  if ((mask >> (index % kWarp) & 1) == 0) {
    fail(fmt::format("lane {} calls {} at {}:{} with mask {:#010x}, which does not name it, in {}",
                     index % kWarp, name_of(kind), site.file, site.line, mask, where_now()));
  }
  if (width < 1 || width > kWarp || (width & (width - 1)) != 0) {
    fail(fmt::format("{} at {}:{} has width {}, which is no power of two up to 32, in {}",
                     name_of(kind), site.file, site.line, width, where_now()));
  }
  self.kind = kind;
  self.mask = mask;
  self.value = value;
  self.operand = operand;
  self.width = width;
  self.site = site;
  self.state = State::kAtWarp;
  void* token = &now.threads[static_cast<size_t>(index / kWarp * kWarp)].token;
  if (kind == Exchange::kSync) order_after(token);
  const unsigned present = warp.waiting(mask);
  if (present == warp.alive(mask)) {
    warp.finish(mask, present);
  } else {
    self.fiber->leave();
  }
  if (kind == Exchange::kSync) order_before(token);
  return self.received;
}

}  // namespace cuda_on_cpu
