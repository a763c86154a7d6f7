// RowOrder: the first few elements of a row are those that sorting puts in front.
#include "phi/kernels/cpu/sort/row_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace phi {
namespace {

template <typename C>
void expect_few_in_front(const std::vector<C>& row) {
  const auto n = static_cast<int64_t>(row.size());
  for (const bool descending : {false, true}) {
    RowOrder<C> sorted;
    const auto& all = sorted.sort(row.data(), n, descending);
    for (const int64_t count : {int64_t{1}, int64_t{5}, n / 2, n}) {
      if (count < 1 || count > n) continue;
      RowOrder<C> order;
      const auto& few = order.first_few(row.data(), n, count, descending);
      ASSERT_EQ(std::ssize(few), count);
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(few[i].place, all[i].place) << i << " of " << count << " of " << n;
    }
  }
}

// Equal numbers, zeros of both signs, infinities and NaN among them; rows with a part of a block.
TEST(RowOrder, TheFirstFewAreThoseInFront) {
  std::mt19937 draw(1);
  const std::vector<float> numbers = {0, -0.0f, 1, -1, 2.5f, INFINITY, -INFINITY, NAN, 1e30f, 3};
  for (const size_t n : {1, 5, 31, 32, 33, 64, 1000}) {
    std::vector<float> row(n);
    for (float& x : row) x = numbers[draw() % numbers.size()];
    expect_few_in_front(row);
    std::vector<double> doubles(n);
    for (double& x : doubles) x = static_cast<double>(static_cast<int>(draw() % 2001) - 1000);
    expect_few_in_front(doubles);
    std::vector<int64_t> integers(n);
    for (int64_t& x : integers) x = static_cast<int64_t>(draw()) - (int64_t{1} << 31);
    expect_few_in_front(integers);
  }
}

TEST(RowOrder, RowsInOrderAndAgainstIt) {
  std::vector<float> rising(500), falling(500);
  for (int i = 0; i < 500; ++i) rising[i] = static_cast<float>(i), falling[i] = -rising[i];
  expect_few_in_front(rising);
  expect_few_in_front(falling);
  expect_few_in_front(std::vector<float>(500, NAN));
}

}  // namespace
}  // namespace phi
