// Barriers, shuffles and votes, implemented by the emulator's functions. Their source lines are not
// compared, because a compiler may duplicate a barrier.
#include "support/cuda_on_cpu/block_state.h"
#include "support/cuda_on_cpu/ptx/instruction_set.h"

namespace cuda_on_cpu::ptx {
namespace {

constexpr Site kSite{"PTX", 0};

int lane_now() { return now.current % kWarp; }

const Instruction* block_barrier(const Instruction& self, Frame& /*frame*/) {
  cuda_on_cpu::block_barrier(Vote::kNone, 0, kSite);
  return &self + 1;
}

const Instruction* warp_barrier(const Instruction& self, Frame& frame) {
  warp_exchange(Exchange::kSync, get<uint32_t>(frame, self.slots[0]), 0, 0, kWarp, kSite);
  return &self + 1;
}

const Instruction* ballot(const Instruction& self, Frame& frame) {
  const auto mask = get<uint32_t>(frame, self.slots[2]);
  const uint64_t mine = get<bool>(frame, self.slots[1]) ? 1 : 0;
  put<uint32_t>(
      frame, self.slots[0],
      static_cast<uint32_t>(warp_exchange(Exchange::kBallot, mask, mine, 0, kWarp, kSite)));
  return &self + 1;
}

// Whether the source lane of a shuffle is in its segment of the warp.
bool is_in_range(Exchange kind, int operand, int width) {
  const int place = lane_now() & (width - 1);
  switch (kind) {
    case Exchange::kUp:
      return place >= operand;
    case Exchange::kDown:
      return place + operand < width;
    case Exchange::kXor:
      return (place ^ operand) < width;
    default:
      return true;
  }
}

// shfl.sync d|p, value, operand, clamp and width, mask
template <Exchange kind>
const Instruction* shuffle(const Instruction& self, Frame& frame) {
  const auto operand = static_cast<int>(get<uint32_t>(frame, self.slots[3]) & 31);
  const auto width = static_cast<int>(kWarp - (get<uint32_t>(frame, self.slots[4]) >> 8 & 31));
  const uint64_t got = warp_exchange(kind, get<uint32_t>(frame, self.slots[5]),
                                     get<uint32_t>(frame, self.slots[2]), operand, width, kSite);
  put<uint32_t>(frame, self.slots[0], static_cast<uint32_t>(got));
  put<bool>(frame, self.slots[1], is_in_range(kind, operand, width));
  return &self + 1;
}

}  // namespace

void add_warp(Rows& rows) {
  rows["bar.sync"] = block_barrier;
  rows["bar.warp.sync"] = warp_barrier;
  rows["vote.sync.ballot.b32"] = ballot;
  rows["shfl.sync.idx.b32"] = shuffle<Exchange::kShuffle>;
  rows["shfl.sync.up.b32"] = shuffle<Exchange::kUp>;
  rows["shfl.sync.down.b32"] = shuffle<Exchange::kDown>;
  rows["shfl.sync.bfly.b32"] = shuffle<Exchange::kXor>;
}

}  // namespace cuda_on_cpu::ptx
