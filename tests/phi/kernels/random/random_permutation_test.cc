// Permutations: each number once, all orders about as likely, and a part as it is of the whole.
#include "phi/kernels/functors/random_permutation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/sampling.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

using Order = std::vector<int64_t>;

Order order_of(int64_t n, uint64_t seed) {
  const RandomPermutation permutation(n, seed);
  Order order(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) order[static_cast<size_t>(i)] = permutation(i);
  return order;
}

TEST(RandomPermutation, HasEachNumberOnce) {
  std::vector<int64_t> sizes(300);
  std::iota(sizes.begin(), sizes.end(), 0);
  for (int64_t n : {1022, 1023, 1024, 1025, 65535, 65536, 65537, 100003}) sizes.push_back(n);
  for (int64_t n : sizes) {
    std::vector<bool> seen(static_cast<size_t>(n));
    for (int64_t number : order_of(n, 4)) {
      ASSERT_TRUE(number >= 0 && number < n) << number << " of " << n;
      ASSERT_FALSE(seen[static_cast<size_t>(number)]) << number << " of " << n << " comes again";
      seen[static_cast<size_t>(number)] = true;
    }
  }
  const RandomPermutation largest((int64_t{1} << 31) - 1, 9);
  for (int64_t i : {int64_t{0}, int64_t{1} << 30, (int64_t{1} << 31) - 2}) {
    EXPECT_GE(largest(i), 0);
    EXPECT_LT(largest(i), (int64_t{1} << 31) - 1);
  }
}

/// How far counts are from being equal, in standard deviations of chi squared.
double unevenness(const std::vector<int>& counts) {
  const double sum = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double expected = sum / static_cast<double>(counts.size());
  double chi = 0;
  for (int count : counts) chi += (count - expected) * (count - expected) / expected;
  const auto freedom = static_cast<double>(counts.size() - 1);
  return (chi - freedom) / std::sqrt(2 * freedom);
}

TEST(RandomPermutation, OfFewNumbersAllOrdersAreAsLikely) {
  for (const auto& [n, orders] : {std::pair(2, 2), {3, 6}, {4, 24}, {5, 120}, {6, 720}}) {
    std::map<Order, int> seen;
    for (int seed = 0; seed < 200 * orders; ++seed) ++seen[order_of(n, seed)];
    ASSERT_EQ(seen.size(), static_cast<size_t>(orders)) << n;
    std::vector<int> counts(seen.size());
    std::transform(seen.begin(), seen.end(), counts.begin(),
                   [](const auto& of) { return of.second; });
    EXPECT_LT(unevenness(counts), 4) << n;
  }
}

int64_t cycles_of(const Order& order) {
  std::vector<bool> seen(order.size());
  int64_t cycles = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (!seen[i]) ++cycles;
    for (size_t k = i; !seen[k]; k = static_cast<size_t>(order[k])) seen[k] = true;
  }
  return cycles;
}

// Rounds that each make even permutations would make no odd ones.
TEST(RandomPermutation, IsEvenAsOftenAsOdd) {
  for (int64_t n : {8, 12, 16, 24, 32, 48, 64, 96, 100, 256, 768, 1024, 3072}) {
    const auto draws = static_cast<int>(std::min<int64_t>(2000, 400'000 / n));
    int even = 0;
    for (int seed = 0; seed < draws; ++seed) {
      even += (n - cycles_of(order_of(n, static_cast<uint64_t>(seed)))) % 2 == 0 ? 1 : 0;
    }
    EXPECT_NEAR(even, draws / 2.0, 4 * std::sqrt(draws / 4.0)) << n;
  }
}

/// What orders of n numbers say of being drawn evenly; each is expected to be within 4.
struct Statistics {
  double stay;        // how many numbers are in their own place
  double follow;      // how many come behind the one below them
  double cycles;      // how many cycles there are
  double places;      // which eighth of the numbers stands in which eighth of the places
  double neighbours;  // which eighth of the numbers stands behind which
};

Statistics statistics_of(int64_t n, int draws) {
  double stay = 0, follow = 0, cycles = 0;
  std::vector<int> places(64), neighbours(64);
  const auto eighth = [n](int64_t number) { return static_cast<size_t>(number * 8 / n); };
  for (int seed = 0; seed < draws; ++seed) {
    const Order order = order_of(n, static_cast<uint64_t>(seed) * 7919);
    for (size_t i = 0; i < order.size(); ++i) {
      stay += order[i] == static_cast<int64_t>(i) ? 1 : 0;
      ++places[eighth(static_cast<int64_t>(i)) * 8 + eighth(order[i])];
      if (i == 0) continue;
      follow += order[i] == order[i - 1] + 1 ? 1 : 0;
      ++neighbours[eighth(order[i - 1]) * 8 + eighth(order[i])];
    }
    cycles += static_cast<double>(cycles_of(order));
  }
  double mean_cycles = 0, variance = 0;
  for (int64_t k = 1; k <= n; ++k) {
    const double share = 1.0 / static_cast<double>(k);
    mean_cycles += share;
    variance += share - share * share;
  }
  const double many = draws, root = std::sqrt(many);
  return {(stay / many - 1) * root, (follow / many - 1 + 1.0 / static_cast<double>(n)) * root,
          (cycles / many - mean_cycles) / std::sqrt(variance / many), unevenness(places),
          unevenness(neighbours)};
}

TEST(RandomPermutation, OfManyNumbersNoneIsDrawnToAPlaceOrANeighbour) {
  for (const auto& [n, draws] : {std::pair(1000, 1000), {1024, 1000}, {65536, 20}, {80000, 20}}) {
    const Statistics found = statistics_of(n, draws);
    EXPECT_LT(std::fabs(found.stay), 4) << n;
    EXPECT_LT(std::fabs(found.follow), 4) << n;
    EXPECT_LT(std::fabs(found.cycles), 4) << n;
    EXPECT_LT(found.places, 4) << n;
    EXPECT_LT(found.neighbours, 4) << n;
  }
}

TEST(RandomPermutation, SeedsThatDifferInABitHaveNothingInCommon) {
  constexpr int64_t kCount = 4096;
  const Order order = order_of(kCount, 12);
  for (int bit = 0; bit < 64; ++bit) {
    const Order other = order_of(kCount, 12 ^ (uint64_t{1} << bit));
    int64_t same = 0;
    for (size_t i = 0; i < order.size(); ++i) same += order[i] == other[i] ? 1 : 0;
    EXPECT_LT(same, 12) << "bit " << bit;  // one is expected
  }
}

// Blocks side by side, against one number at a time; the kernel's parts, against the whole.
/// randperm's, or the part of it that a view shows.
Order permuted(int64_t count, const LaunchView* view = nullptr) {
  DenseTensor out = blank<int64_t>({count});
  registered<kernels::randperm, int64_t>(KernelContext(CPUPlace(), view), -17, &out);
  const auto numbers = out.values<int64_t>();
  return Order(numbers.begin(), numbers.end());
}

// Blocks side by side, against one number at a time; parts, against the whole.
TEST(RandomPermutation, APartIsThatOfTheWhole) {
  for (int64_t n : {1, 2, 5, 255, 256, 257, 1000, 5000}) {
    const Order whole = order_of(n, static_cast<uint64_t>(int64_t{-17}));
    EXPECT_EQ(permuted(n), whole) << n;
    const int64_t begin = n / 3, end = n - n / 5;
    FakeView view;
    view.outputs = {part({n}, 0, begin, end)};
    EXPECT_EQ(permuted(end - begin, &view), Order(whole.begin() + begin, whole.begin() + end)) << n;
  }
}

}  // namespace
}  // namespace phi::testing
