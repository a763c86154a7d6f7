// A random permutation whose positions can be computed independently: a bijection chosen by a seed,
// like a cipher.
//
//   const RandomPermutation order(n, seed);
//   out[i] = order(i);
//
// The bijection is a Feistel network (M. Luby, C. Rackoff, SIAM Journal on Computing 17, 1988) on a
// number's higher and lower digits. A result of n or more is permuted again until it is below n (J.
// Black, P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002). R. Mitchell et al.,
// "Bandwidth-optimal random shuffling for GPUs", ACM Transactions on Parallel Computing 9, 2022,
// shuffle in this way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "phi/kernels/functors/philox.h"

namespace phi {

/// A permutation of n elements, 0 <= n < 2^31. 24 rounds make all orders of a few elements about
/// equally likely (8 rounds do not for 5 elements). From 1,024 elements on, 6 rounds leave no
/// visible bias.
class RandomPermutation {
 public:
  RandomPermutation(int64_t n, uint64_t seed)
      : n_(static_cast<uint32_t>(n)), rounds_(n < 1024 ? 24 : 6) {
    const uint32_t last = n_ > 0 ? n_ - 1 : 0;
    low_bits_ = std::max(1, static_cast<int>(std::bit_width(last) + 1) / 2);
    rows_ = (last >> low_bits_) + 1;
    const PhiloxBlock words = philox(philox_counter(0, RandomUse::kPermutation), philox_key(seed));
    key_ = {{words.word[0], words.word[1]}};
  }

  /// The number at position i, 0 <= i < n.
  PHI_HD int64_t operator()(int64_t i) const {
    uint32_t x = static_cast<uint32_t>(i);
    do {
      x = shuffled(x);
    } while (x >= n_);
    return x;
  }

  /// Writes the numbers at `count` <= kMost positions from `first` on, in a vectorisable loop.
  static constexpr int kMost = 256;
  void numbers_from(int64_t first, int count, uint32_t* numbers) const {
    uint32_t high[kMost], low[kMost];
    for (int i = 0; i < count; ++i) {
      const uint32_t x = static_cast<uint32_t>(first) + static_cast<uint32_t>(i);
      high[i] = x >> low_bits_;
      low[i] = x & low_mask();
    }
    PhiloxKey key = key_;
    for (int r = 0; r < rounds_; ++r) {
      for (int i = 0; i < count; ++i) round(high[i], low[i], key);
      detail::philox_bump(key);
    }
    for (int i = 0; i < count; ++i) {
      const uint32_t x = high[i] << low_bits_ | low[i];
      numbers[i] = x < n_ ? x : static_cast<uint32_t>((*this)(x));
    }
  }

 private:
  PHI_HD uint32_t low_mask() const { return (1u << low_bits_) - 1; }

  /// Hashes x with the key. The higher bits of the result are mixed best.
  PHI_HD static uint32_t mixed(uint32_t x, uint32_t key) {
    constexpr uint32_t kFirst = kPhiloxFactors[0], kSecond = kPhiloxFactors[1];
    uint32_t y = (x ^ key) * kFirst;
    y ^= y >> 16;
    return y * kSecond;
  }

  /// Adds to each half a hash of the other: the higher modulo rows_ <= 2^16, the lower modulo a
  /// power of 2. Sums, because exclusive ors would make only even permutations of 12, 24, ..
  /// numbers.
  PHI_HD void round(uint32_t& high, uint32_t& low, PhiloxKey key) const {
    const uint32_t moved = high + ((mixed(low, key.word[0]) >> 16) * rows_ >> 16);
    const uint32_t around = moved - rows_;  // wraps to a huge number if moved < rows_
    high = moved < around ? moved : around;
    low = (low + (mixed(high, key.word[1]) >> (32 - low_bits_))) & low_mask();
  }

  /// A bijection of the numbers below rows_ * 2^low_bits_, which is at least n.
  PHI_HD uint32_t shuffled(uint32_t x) const {
    uint32_t high = x >> low_bits_, low = x & low_mask();
    PhiloxKey key = key_;
    for (int r = 0; r < rounds_; ++r) {
      round(high, low, key);
      detail::philox_bump(key);
    }
    return high << low_bits_ | low;
  }

  uint32_t n_;
  int rounds_;
  int low_bits_;
  uint32_t rows_;
  PhiloxKey key_;
};

}  // namespace phi
