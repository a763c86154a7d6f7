// KeyOrder beside a plain sort: evenly spread keys, which radix takes apart, and keys that it does
// not.
#include "phi/kernels/cpu/random/key_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "phi/kernels/functors/philox.h"

namespace phi {
namespace {

uint64_t spread(int64_t place) {
  const PhiloxBlock block =
      philox(philox_counter(static_cast<uint64_t>(place), RandomUse::kPermutation), philox_key(1));
  return uint64_t{block.word[0]} << 32 | block.word[1];
}

template <typename Key>
void expect_sorted(int64_t n, Key key, const std::string& what) {
  const KeyOrder order(n, [key](int64_t first, KeyBatch* keys) {
    for (int64_t i = 0; i < kKeyBatch; ++i) (*keys)[static_cast<size_t>(i)] = key(first + i);
  });
  std::vector<std::pair<uint64_t, int64_t>> expected;
  for (int64_t i = 0; i < n; ++i) expected.emplace_back(key(i), i);
  std::sort(expected.begin(), expected.end());
  int64_t wrong = 0;
  order.for_each(0, n, [&](int64_t i, int64_t place) {
    wrong += place != expected[static_cast<size_t>(i)].second;
  });
  EXPECT_EQ(wrong, 0) << what << ", " << n;
}

// Fewer than are sorted by radix, and as many.
constexpr int64_t kExtents[] = {0, 1, 2, 3, 63, 64, 65, 511, 512, 513, 3000};

TEST(KeyOrder, OfKeysThatAreSpread) {
  for (const int64_t n : kExtents) expect_sorted(n, spread, "spread");
  // So many that one more digit counts.
  for (const int64_t n : {131072, 131073}) expect_sorted(n, spread, "spread");
}

TEST(KeyOrder, OfKeysWhoseHighestBitsAreAlike) {
  for (const int64_t n : kExtents) {
    expect_sorted(
        n, [](int64_t) { return uint64_t{7}; }, "all equal");
    expect_sorted(
        n, [](int64_t i) { return static_cast<uint64_t>(i % 3) << 60; }, "three keys");
    expect_sorted(
        n, [](int64_t i) { return ~static_cast<uint64_t>(i); }, "falling");
    expect_sorted(
        n, [](int64_t i) { return spread(i) >> 40; }, "in low bits");
    expect_sorted(
        n, [](int64_t i) { return spread(i) & ~uint64_t{0} << 52; }, "in high bits");
    // Pairs and runs that reach over the blocks in which they are looked for.
    expect_sorted(
        n, [](int64_t i) { return spread(i / 2); }, "pairs");
    expect_sorted(
        n, [](int64_t i) { return spread(i / 40) + spread(i) % 5; }, "runs");
  }
}

TEST(KeyOrder, OfAPart) {
  const int64_t n = 3000;
  const KeyOrder order(n, [](int64_t first, KeyBatch* keys) {
    for (int64_t i = 0; i < kKeyBatch; ++i) (*keys)[static_cast<size_t>(i)] = spread(first + i);
  });
  std::vector<int64_t> all(static_cast<size_t>(n));
  order.for_each(0, n, [&](int64_t i, int64_t place) { all[static_cast<size_t>(i)] = place; });
  order.for_each(1001, 700, [&](int64_t i, int64_t place) {
    EXPECT_EQ(place, all[static_cast<size_t>(1001 + i)]) << i;
  });
}

}  // namespace
}  // namespace phi
