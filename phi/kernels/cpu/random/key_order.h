// The order of random keys, by radix: of keys that are spread evenly hardly any two share their
// highest bits, so that few are left to compare.
//
//   const KeyOrder order(n, draw);  // draw(first, &keys): keys of places from `first` on
//   order[0];                       // the place of the smallest key
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#include "phi/kernels/cpu/workspace.h"

namespace phi {

/// Keys that are drawn at a time.
inline constexpr int kKeyBatch = 32;
using KeyBatch = std::array<uint64_t, kKeyBatch>;

/// The places 0 .. n - 1 in the order of their keys, equal keys by place. `draw` makes kKeyBatch
/// keys, those of places from n on too, and the same ones if asked again.
template <typename Draw>
class KeyOrder {
 public:
  KeyOrder(int64_t n, Draw draw)
      : n_(n),
        place_bits_(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(n, 1) - 1))),
        draw_(draw),
        entries_(room_.room<uint64_t>(n)) {
    if (n < kRadixFrom || n > kRadixTo) {
      sort<0>();
    } else if (place_bits_ + kSpareBits <= 2 * kDigitBits) {
      sort<2>();
    } else {
      sort<3>();
    }
  }

  int64_t operator[](int64_t i) const { return place(entries_[i]); }

 private:
  static constexpr int64_t kRadixFrom = 512;
  static constexpr int64_t kRadixTo = std::numeric_limits<uint32_t>::max();
  static constexpr int kDigitBits = 11;
  static constexpr int kSpareBits = 5;  // of n keys with as many more hardly any two are alike
  using Counts = std::array<uint32_t, size_t{1} << kDigitBits>;

  // An entry is a key whose last bits give way to its place.
  int64_t place(uint64_t entry) const {
    return static_cast<int64_t>(entry & ~(~uint64_t{0} << place_bits_));
  }

  // By kDigits digits, those of an entry's highest bits.
  template <int kDigits>
  void sort() {
    std::array<Counts, kDigits> counts{};
    draw_entries(&counts);
    if (kDigits > 0) other_ = other_room_.room<uint64_t>(n_);
    for (int d = 0; d < kDigits; ++d)
      move_by(shift_of(kDigits, d), &counts[static_cast<size_t>(d)]);
    sort_alike(kDigits * kDigitBits);
  }
  // Digit 0 is the last.
  static int shift_of(int digits, int d) { return 64 - kDigitBits * (digits - d); }
  static size_t digit(uint64_t entry, int shift) {
    return (entry >> shift) % std::tuple_size_v<Counts>;
  }

  template <size_t kDigits>
  void draw_entries(std::array<Counts, kDigits>* counts) {
    KeyBatch keys;
    for (int64_t first = 0; first < n_; first += kKeyBatch) {
      draw_(first, &keys);
      const int64_t count = std::min<int64_t>(kKeyBatch, n_ - first);
      for (int64_t i = 0; i < count; ++i) {
        const uint64_t high = keys[static_cast<size_t>(i)] >> place_bits_ << place_bits_;
        entries_[first + i] = high | static_cast<uint64_t>(first + i);
      }
      for (int64_t i = first; i < first + count; ++i) {
        for (size_t d = 0; d < kDigits; ++d)
          ++(*counts)[d][digit(entries_[i], shift_of(kDigits, static_cast<int>(d)))];
      }
    }
  }

  // Keeps the order of entries whose digits are the same.
  void move_by(int shift, Counts* counts) {
    uint32_t begin = 0;
    for (uint32_t& count : *counts) begin += std::exchange(count, begin);
    const uint64_t* from = entries_;
    uint64_t* to = other_;
    for (int64_t i = 0; i < n_; ++i) to[(*counts)[digit(from[i], shift)]++] = from[i];
    std::swap(entries_, other_);
  }

  // Runs of entries whose highest bits are all the same.
  void sort_alike(int alike_bits) {
    const auto is_alike = [&](int64_t i) {
      return alike_bits == 0 || (entries_[i] ^ entries_[i - 1]) >> (64 - alike_bits) == 0;
    };
    for (int64_t i = 1; i < n_; ++i) {
      if (!is_alike(i)) continue;
      const int64_t begin = i - 1;
      while (i < n_ && is_alike(i)) ++i;
      std::sort(entries_ + begin, entries_ + i,
                [this](uint64_t a, uint64_t b) { return comes_before(a, b); });
    }
  }

  bool comes_before(uint64_t a, uint64_t b) const {
    if ((a ^ b) >> place_bits_ != 0) return a < b;
    const uint64_t key_a = key(place(a)), key_b = key(place(b));
    return key_a < key_b || (key_a == key_b && a < b);
  }
  uint64_t key(int64_t place) const {
    KeyBatch keys;
    draw_(place, &keys);
    return keys[0];
  }

  const int64_t n_;
  const int place_bits_;
  const Draw draw_;
  Workspace room_;
  Workspace other_room_;
  uint64_t* entries_;
  uint64_t* other_ = nullptr;
};

}  // namespace phi
