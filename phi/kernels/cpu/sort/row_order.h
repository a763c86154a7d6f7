// The order of a row of numbers, as integer keys that compare like the numbers, with their
// positions, for sorting and selection. Equal elements are ordered by position; NaN is larger than
// all numbers; -0 equals 0.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "phi/kernels/cpu/scratch.h"
#include "phi/kernels/functors/order_key.h"

namespace phi {

/// An element of a row: its key and its position.
template <typename Key>
struct Ranked {
  Key key;
  int64_t place;
  friend bool operator<(const Ranked& a, const Ranked& b) {
    return a.key < b.key || (a.key == b.key && a.place < b.place);
  }
};
/// Key and position in one 64-bit word. Rows of more than 2^32 elements would not fit into memory.
template <>
struct Ranked<uint32_t> {
  Ranked() = default;
  Ranked(uint32_t key_, int64_t place_) : key(key_), place(static_cast<uint32_t>(place_)) {}
  uint32_t key;
  uint32_t place;
  friend bool operator<(const Ranked& a, const Ranked& b) { return a.word() < b.word(); }

 private:
  uint64_t word() const { return uint64_t{key} << 32 | place; }
};

/// Orders rows one after the other and reuses its memory.
template <typename C>
class RowOrder {
 public:
  using Key = order_key_t<C>;
  using Entry = Ranked<Key>;

  /// Returns the elements of a row of n as entries, in the row's order. `descending` reverses the
  /// order of keys.
  ScratchVector<Entry>& rank(const C* row, int64_t n, bool descending = false) {
    entries_.resize(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) entries_[i] = Entry{key_of(row[i], descending), i};
    return entries_;
  }

  /// Returns the first `count` >= 1 entries in order; `count` is small. Each is inserted in its
  /// position. A block is examined element by element only if its smallest key precedes the last of
  /// the entries found so far.
  const ScratchVector<Entry>& first_few(const C* row, int64_t n, int64_t count, bool descending) {
    constexpr int64_t kBlock = 32;
    std::array<Key, kBlock> keys;
    entries_.clear();
    for (int64_t begin = 0; begin < n; begin += kBlock) {
      const int64_t size = std::min(kBlock, n - begin);
      for (int64_t i = 0; i < size; ++i) keys[i] = key_of(row[begin + i], descending);
      std::fill(keys.begin() + size, keys.end(), kLastKey);
      Key least = kLastKey;
      for (const Key key : keys) least = std::min(least, key);
      if (!comes_in(least, count)) continue;
      for (int64_t i = 0; i < size; ++i) {
        if (comes_in(keys[i], count)) insert({keys[i], begin + i}, count);
      }
    }
    return entries_;
  }

  /// Returns the entries of the row in order.
  const ScratchVector<Entry>& sort(const C* row, int64_t n, bool descending = false) {
    rank(row, n, descending);
    if (n < kRadixFrom) {
      std::sort(entries_.begin(), entries_.end());
    } else {
      radix_sort();
    }
    return entries_;
  }

 private:
  static constexpr int64_t kRadixFrom = 512;
  static constexpr int kDigits = sizeof(Key);
  static constexpr Key kLastKey = std::numeric_limits<Key>::max();

  static Key key_of(C x, bool descending) {
    return static_cast<Key>(order_key(x) ^ (descending ? kLastKey : Key(0)));
  }

  /// Whether a later element is one of the first `count`. Of equal elements the earlier one comes
  /// first.
  bool comes_in(Key key, int64_t count) const {
    return std::ssize(entries_) < count || key < entries_.back().key;
  }
  void insert(const Entry& entry, int64_t count) {
    if (std::ssize(entries_) < count) entries_.push_back(entry);
    auto at = entries_.end() - 1;
    for (; at != entries_.begin() && entry < at[-1]; --at) *at = at[-1];
    *at = entry;
  }

  // Sorts by digits from the last to the first; each pass keeps the order of the previous one. A
  // digit that is the same in all keys needs no pass.
  void radix_sort() {
    std::array<std::array<int64_t, 256>, kDigits> counts{};
    for (const Entry& entry : entries_) {
      for (int d = 0; d < kDigits; ++d) ++counts[d][digit(entry, d)];
    }
    other_.resize(entries_.size());
    for (int d = 0; d < kDigits; ++d) {
      std::array<int64_t, 256>& to = counts[d];
      const auto n = static_cast<int64_t>(entries_.size());
      if (to[digit(entries_[0], d)] == n) continue;
      int64_t begin = 0;
      for (int64_t& count : to) begin += std::exchange(count, begin);
      for (const Entry& entry : entries_) other_[to[digit(entry, d)]++] = entry;
      entries_.swap(other_);
    }
  }
  static size_t digit(const Entry& entry, int d) { return (entry.key >> (8 * d)) & 0xff; }

  ScratchVector<Entry> entries_;
  ScratchVector<Entry> other_;
};

}  // namespace phi
