// Combines sums of 128-bit products of pairs of words, which depend on the words' positions, with a
// plain sum of the words, which changes if any single word changes. The products are independent,
// so that one can begin in each cycle.
#include "phi/memory/io/page_checksum.h"

#include <array>
#include <cstring>

#include "phi/memory/io/aligned_buffer.h"

namespace phi::memory {
namespace {

__extension__ using Uint128 = unsigned __int128;
constexpr size_t kWords = 4;  // words per step
// Odd, so that multiplication is a bijection; the first is 2^64 / golden ratio.
constexpr uint64_t kFirstFactor = 0x9e3779b97f4a7c15;
constexpr uint64_t kSecondFactor = 0xd6e8feb86659fd93;

uint64_t fold_product(uint64_t x, uint64_t y) {
  const Uint128 product = Uint128{x} * y;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// A bijection of `sum` for each `word`, and of `word` for each `sum`.
uint64_t mix(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * kFirstFactor;
  return (sum ^ (sum >> 32)) * kSecondFactor;
}

}  // namespace

uint64_t page_checksum(const std::byte* page, uint64_t seed) {
  uint64_t key = kFirstFactor, words_sum = 0, even = 0, odd = 0;
  for (size_t at = 0; at < kPage; at += kWords * sizeof(uint64_t)) {
    std::array<uint64_t, kWords> w;
    std::memcpy(w.data(), page + at, sizeof(w));
    even += fold_product(w[0] ^ key, w[1] ^ (key + kFirstFactor));
    odd += fold_product(w[2] ^ (key ^ kFirstFactor), w[3] ^ ~key);
    words_sum += w[0] + w[1] + w[2] + w[3];
    key += kSecondFactor;  // a different key in each step, so that the order of steps matters
  }
  const uint64_t sum = mix(mix(mix(seed ^ kSecondFactor, words_sum), even), odd);
  return sum == 0 ? 1 : sum;
}

}  // namespace phi::memory
