// The split function: the part of a dim of size n that shard i of k holds.
//
// The split is balanced: the first n mod k shards hold one element more. 12 over 5 is {3,3,2,2,2};
// 2 over 4 is {1,1,0,0}. It is defined for every n >= 0, k >= 1 and 0 <= i < k. Sizes are never
// negative and offsets never decrease.
#pragma once

#include <algorithm>
#include <cstdint>

namespace phi::distributed {

struct ShardRange {
  int64_t offset = 0;
  int64_t size = 0;
  int64_t end() const { return offset + size; }
  friend bool operator==(const ShardRange&, const ShardRange&) = default;
};

constexpr ShardRange split_range(int64_t n, int64_t k, int64_t i) {
  const int64_t base = n / k;
  const int64_t larger = n % k;
  return {i * base + std::min(i, larger), base + (i < larger ? 1 : 0)};
}

}  // namespace phi::distributed
