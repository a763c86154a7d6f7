// Independent lanes of multiply-and-shift steps, each a bijection of the lane, folded in the end.
#include "phi/memory/page_checksum.h"

#include <array>
#include <cstring>

#include "phi/memory/aligned_buffer.h"

namespace phi::memory {
namespace {

constexpr int kLanes = 8;
// Odd, so that multiplying loses nothing; the first is 2^64 / golden ratio.
constexpr uint64_t kFirstFactor = 0x9e3779b97f4a7c15;
constexpr uint64_t kSecondFactor = 0xd6e8feb86659fd93;

constexpr uint64_t mix(uint64_t lane, uint64_t word) {
  lane = (lane ^ word) * kFirstFactor;
  return lane ^ (lane >> 32);
}

}  // namespace

uint64_t page_checksum(const std::byte* page, uint64_t seed) {
  std::array<uint64_t, kLanes> lanes;
  for (int i = 0; i < kLanes; ++i) lanes[i] = seed + static_cast<uint64_t>(i) * kSecondFactor;
  for (size_t at = 0; at < kPage; at += sizeof(lanes)) {
    std::array<uint64_t, kLanes> words;
    std::memcpy(words.data(), page + at, sizeof(words));
    for (int i = 0; i < kLanes; ++i) lanes[i] = mix(lanes[i], words[i]);
  }
  uint64_t sum = kSecondFactor;
  for (const uint64_t lane : lanes) sum = mix(sum, lane) * kSecondFactor;
  return sum == 0 ? 1 : sum;
}

}  // namespace phi::memory
