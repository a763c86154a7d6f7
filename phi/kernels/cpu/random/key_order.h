// The order of random keys, by radix: of keys that are spread evenly hardly any two share their
// highest bits, so that few are left to compare.
//
//   const KeyOrder order(n, draw);  // draw(first, &keys): keys of places from `first` on
//   order.for_each(0, n, [&](int64_t i, int64_t place) { out[i] = place; });
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "phi/common/hd.h"
#include "phi/kernels/cpu/workspace.h"

namespace phi {

/// Keys that are drawn at a time.
inline constexpr int kKeyBatch = 64;
using KeyBatch = std::array<uint64_t, kKeyBatch>;

/// The places 0 .. n - 1 in the order of their keys, equal keys by place. `draw` makes kKeyBatch
/// keys, those of places from n on too, and the same ones if asked again.
template <typename Draw>
class KeyOrder {
 public:
  KeyOrder(int64_t n, Draw draw)
      : n_(n),
        place_bits_(
            static_cast<int>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(n, 1) - 1)))),
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

  /// f(i, place of key first + i) for i from 0 to below `count`.
  template <typename F>
  void for_each(int64_t first, int64_t count, F f) const {
    const uint64_t* entries = entries_ + first;
    const uint64_t mask = place_mask();
    for (int64_t i = 0; i < count; ++i) f(i, static_cast<int64_t>(entries[i] & mask));
  }

 private:
  static constexpr int64_t kRadixFrom = 512;
  static constexpr int64_t kRadixTo = int64_t{1} << 31;  // an entry's digits are all its key's
  static constexpr int kDigitBits = 11;
  static constexpr int kSpareBits = 5;  // of n keys with as many more hardly any two are alike
  using Counts = std::array<uint32_t, size_t{1} << kDigitBits>;

  // An entry is a key whose last bits give way to its place.
  uint64_t place_mask() const { return ~(~uint64_t{0} << place_bits_); }

  // By kDigits digits, those of an entry's highest bits.
  template <int kDigits>
  void sort() {
    std::array<Counts, kDigits> counts{};
    draw_entries(&counts);
    if (kDigits > 0) other_ = other_room_.room<uint64_t>(n_);
    for (int d = 0; d < kDigits; ++d)
      move_by(shift_of(kDigits, d), &counts[static_cast<size_t>(d)]);
    sort_alike<kDigits * kDigitBits>();
  }
  // Digit 0 is the last.
  static int shift_of(int digits, int d) { return 64 - kDigitBits * (digits - d); }
  static size_t digit(uint64_t entry, int shift) {
    return (entry >> shift) % std::tuple_size_v<Counts>;
  }

  template <size_t kDigits>
  void draw_entries(std::array<Counts, kDigits>* counts) {
    KeyBatch keys;
    const uint64_t kept = ~place_mask();
    for (int64_t first = 0; first < n_; first += kKeyBatch) {
      draw_(first, &keys);
      for (size_t i = 0; i < kKeyBatch; ++i)
        keys[i] = (keys[i] & kept) | (static_cast<uint64_t>(first) + i);
      const auto count = static_cast<size_t>(std::min<int64_t>(kKeyBatch, n_ - first));
      std::copy_n(keys.data(), count, entries_ + first);
      PHI_UNROLL(4)
      for (size_t i = 0; i < count; ++i) {
        for (size_t d = 0; d < kDigits; ++d)
          ++(*counts)[d][digit(keys[i], shift_of(kDigits, static_cast<int>(d)))];
      }
    }
  }

  // Keeps the order of entries whose digits are the same.
  void move_by(int shift, Counts* counts) {
    uint32_t begin = 0;
    for (uint32_t& count : *counts) begin += std::exchange(count, begin);
    const int64_t n = n_;
    const uint64_t* from = entries_;
    uint64_t* to = other_;
    PHI_UNROLL(4)
    for (int64_t i = 0; i < n; ++i) to[(*counts)[digit(from[i], shift)]++] = from[i];
    std::swap(entries_, other_);
  }

  // Runs of entries whose highest bits are all the same, which most blocks have none of.
  template <int kAlikeBits>
  void sort_alike() {
    constexpr int64_t kBlock = 16;
    const int64_t n = n_;
    uint64_t* entries = entries_;
    const auto is_alike = [=](int64_t i) {
      if constexpr (kAlikeBits == 0) return true;
      return (entries[i] ^ entries[i - 1]) >> (64 - std::max(kAlikeBits, 1)) == 0;
    };
    int64_t i = 1;
    for (int64_t begin = 1; begin < n; begin += kBlock) {
      const int64_t end = std::min(begin + kBlock, n);
      uint64_t alike = 0;
      for (int64_t k = begin; k < end; ++k) alike |= is_alike(k) ? 1 : 0;
      if (alike == 0) continue;
      for (i = std::max(i, begin); i < end; ++i) {
        if (!is_alike(i)) continue;
        const int64_t first = i - 1;
        while (i < n && is_alike(i)) ++i;
        sort_run(entries + first, entries + i);
      }
    }
  }

  void sort_run(uint64_t* begin, uint64_t* end) const {
    if (end - begin == 2 && !comes_before(begin[1], begin[0])) return;
    if (end - begin == 2) return std::swap(begin[0], begin[1]);
    sort_long_run(begin, end);
  }
  [[gnu::noinline]] void sort_long_run(uint64_t* begin, uint64_t* end) const {
    std::sort(begin, end, [this](uint64_t a, uint64_t b) { return comes_before(a, b); });
  }
  bool comes_before(uint64_t a, uint64_t b) const {
    if ((a ^ b) >= uint64_t{1} << place_bits_) return a < b;
    const uint64_t key_a = key_of(a), key_b = key_of(b);
    return key_a < key_b || (key_a == key_b && a < b);
  }
  [[gnu::noinline]] uint64_t key_of(uint64_t entry) const {
    KeyBatch keys;
    draw_(static_cast<int64_t>(entry & place_mask()), &keys);
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
