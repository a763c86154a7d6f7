// Philox4x32-10: a counter-based random generator. Four words are a function of a counter and a
// key, so any element of a tensor can be drawn anywhere and in any order.
//
//   PhiloxBlock words = philox({block, 0, 0, 0}, {seed, 0});
//
// J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <cstdint>

#include "phi/kernels/functors/hd.h"

namespace phi {

struct PhiloxBlock {
  uint32_t word[4];
};
struct PhiloxKey {
  uint32_t word[2];
};

/// The purpose of the words. Draws for different purposes under one seed are independent.
enum class RandomUse : uint32_t {
  kGaussian = 1,
  kUniform = 2,
  kDropout = 3,
  kAttention = 4,
  kBernoulli = 5,
  kExponential = 6,
  kTruncatedGaussian = 7,
  kInteger = 8,
  kIntegerLow = 9,  // the lower halves of 64-bit words
  kPermutation = 10,
  kMultinomial = 11,
  kPoisson = 12,
  kBinomial = 13,
  kGamma = 14,
  kClassCenters = 15,
  kSeeds = 16,  // of calls without a seed
};

/// The multipliers of the counter's words 0 and 2.
inline constexpr uint32_t kPhiloxFactors[] = {0xD2511F53u, 0xCD9E8D57u};

namespace detail {
/// One round, in place on the counter's words.
PHI_HD void philox_round(uint32_t& c0, uint32_t& c1, uint32_t& c2, uint32_t& c3, uint32_t k0,
                         uint32_t k1) {
  const uint64_t product0 = static_cast<uint64_t>(c0) * kPhiloxFactors[0];
  const uint64_t product1 = static_cast<uint64_t>(c2) * kPhiloxFactors[1];
  c0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ k0;
  c1 = static_cast<uint32_t>(product1);
  c2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ k1;
  c3 = static_cast<uint32_t>(product0);
}

/// The key of the next round: the golden ratio and sqrt(3) - 1 are the paper's Weyl constants.
PHI_HD void philox_bump(PhiloxKey& key) {
  key.word[0] += 0x9E3779B9u;
  key.word[1] += 0xBB67AE85u;
}
}  // namespace detail

inline constexpr int kPhiloxRounds = 10;

/// The four words for `counter` under `key`.
PHI_HD PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
  uint32_t* c = counter.word;
  for (int round = 0; round < kPhiloxRounds; ++round) {
    detail::philox_round(c[0], c[1], c[2], c[3], key.word[0], key.word[1]);
    detail::philox_bump(key);
  }
  return counter;
}

/// A seed attribute as 64 bits. Negative seeds are valid.
PHI_HD uint64_t seed_bits(int64_t seed) { return static_cast<uint64_t>(seed); }

/// The key of a seed; and the counter of elements 4 block .. 4 block + 3 of a tensor drawn for
/// `use`.
PHI_HD PhiloxKey philox_key(uint64_t seed) {
  return {{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}};
}
PHI_HD PhiloxBlock philox_counter(uint64_t block, RandomUse use) {
  return {{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
           static_cast<uint32_t>(use), 0u}};
}

/// Computes `kLanes` counters at once, in place: words[w][lane]. Each round runs over all lanes, an
/// order that compilers vectorise.
template <int kLanes>
PHI_HD void philox_lanes(uint32_t (&words)[4][kLanes], PhiloxKey key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    PHI_UNROLL(1)
    for (int lane = 0; lane < kLanes; ++lane) {
      detail::philox_round(words[0][lane], words[1][lane], words[2][lane], words[3][lane],
                           key.word[0], key.word[1]);
    }
    detail::philox_bump(key);
  }
}

}  // namespace phi
