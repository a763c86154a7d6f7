// Letters of arrays, and how two arrays become a batch of matrix products.
#include "phi/kernels/products/labels.h"

#include <gtest/gtest.h>

namespace phi {
namespace {

TEST(Labels, ALetterThatIsThereTwiceTakesTheDiagonal) {
  const Labels x = labels_of("iji", {3, 4, 3});
  EXPECT_EQ(x.letters, "ij");
  EXPECT_EQ(x.dims, (Dims{3, 4}));
  EXPECT_EQ(x.strides, (Dims{13, 3}));
  EXPECT_FALSE(x.is_row_major("ij"));
}

TEST(Labels, OrdersAreRowMajorWhereStepsAre) {
  const Labels x = labels_of("abc", {2, 1, 3});
  EXPECT_TRUE(x.is_row_major("abc"));
  EXPECT_TRUE(x.is_row_major("acb"));  // b has one element
  EXPECT_FALSE(x.is_row_major("cab"));
  EXPECT_TRUE(labels_of("", {}).is_row_major(""));
}

TEST(Labels, LettersKeepTheirOwnOrder) {
  const Labels x = labels_of("abc", {2, 3, 4});
  EXPECT_EQ(x.those_in("cxa"), "ac");
  EXPECT_EQ(x.those_not_in("cxa"), "b");
  EXPECT_EQ(x.extents("cb"), (Dims{4, 3}));
  EXPECT_EQ(x.find('x'), -1);
}

TEST(PairPlan, SharedLettersAreBatchWhereTheyAreNeededElseSummed) {
  const Labels a = labels_of("bik", {2, 3, 4});
  const Labels b = labels_of("kbj", {4, 2, 5});
  const PairPlan plan = plan_pair(a, b, "jib");
  EXPECT_EQ(plan.batch, "b");
  EXPECT_EQ(plan.inner, "k");
  EXPECT_EQ(plan.rows, "i");
  EXPECT_EQ(plan.columns, "j");
  EXPECT_EQ(plan.result.letters, "bij");
  EXPECT_EQ(plan.result.dims, (Dims{2, 3, 5}));
  EXPECT_TRUE(plan.result.is_row_major("bij"));
}

}  // namespace
}  // namespace phi
