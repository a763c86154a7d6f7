// Letters of arrays, and how two arrays become a batch of matrix products.
#include "phi/kernels/matmul/einsum_labels.h"

#include <gtest/gtest.h>

namespace phi {
namespace {

TEST(EinsumLabels, ALetterThatIsThereTwiceTakesTheDiagonal) {
  const EinsumLabels x = labels_of("iji", {3, 4, 3});
  EXPECT_EQ(x.letters, "ij");
  EXPECT_EQ(x.dims, (Dims{3, 4}));
  EXPECT_EQ(x.strides, (Dims{13, 3}));
  EXPECT_FALSE(x.is_row_major("ij"));
}

TEST(EinsumLabels, OrdersAreRowMajorWhereStepsAre) {
  const EinsumLabels x = labels_of("abc", {2, 1, 3});
  EXPECT_TRUE(x.is_row_major("abc"));
  EXPECT_TRUE(x.is_row_major("acb"));  // b has one element
  EXPECT_FALSE(x.is_row_major("cab"));
  EXPECT_TRUE(labels_of("", {}).is_row_major(""));
}

TEST(EinsumLabels, LettersKeepTheirOwnOrder) {
  const EinsumLabels x = labels_of("abc", {2, 3, 4});
  EXPECT_EQ(x.common_letters("cxa"), "ac");
  EXPECT_EQ(x.missing_letters("cxa"), "b");
  EXPECT_EQ(x.extents("cb"), (Dims{4, 3}));
  EXPECT_EQ(x.find('x'), -1);
}

TEST(PairPlan, SharedLettersAreBatchWhereTheyAreNeededElseSummed) {
  const EinsumLabels a = labels_of("bik", {2, 3, 4});
  const EinsumLabels b = labels_of("kbj", {4, 2, 5});
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
