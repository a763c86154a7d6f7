// Dims: extents held inline.
#include "phi/common/dims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "phi/core/attribute.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

TEST(Dims, CountsElements) {
  EXPECT_EQ(Dims().numel(), 1);
  EXPECT_EQ((Dims{3, 0, 2}).numel(), 0);
  EXPECT_EQ((Dims{3, 4, 2}).numel(), 24);
  EXPECT_EQ((Dims{3, 4, 2}).numel(1, 3), 8);
  EXPECT_EQ((Dims{3, 4, 2}).numel(1, 1), 1);
}

TEST(Dims, StridesAreRowMajor) {
  EXPECT_EQ((Dims{3, 4, 2}).strides(), (Dims{8, 2, 1}));
  EXPECT_EQ(Dims().strides(), Dims());
}

TEST(Dims, EqualityLooksAtTheExtentsInUse) {
  Dims a = {2, 3, 4};
  EXPECT_NE(a, (Dims{2, 3}));
  EXPECT_NE(a, (Dims{2, 3, 5}));
  a[2] = 5;
  EXPECT_EQ(a, (Dims{2, 3, 5}));
}

TEST(Dims, PrintsUnknownExtents) {
  EXPECT_EQ((Dims{64, kUnknownDim}).to_string(), "[64,?]");
  EXPECT_EQ(Dims().to_string(), "[]");
  EXPECT_FALSE((Dims{64, kUnknownDim}).known());
  EXPECT_TRUE((Dims{0}).known());
}

TEST(Dims, MoreThanNineAreAnError) {
  std::vector<int64_t> many(10, 1);
  EXPECT_THAT([&] { Dims dims(many); },
              ThrowsError(ErrorCode::kInvalidArgument, "at most 9 dims, this one would have 10"));
  Dims full = Dims::filled(kMaxNdim, 1);
  EXPECT_THAT([&] { full.push_back(1); }, ThrowsError(ErrorCode::kInvalidArgument, "at most 9"));
  EXPECT_THAT([] { Dims::filled(12, 1); }, ThrowsError(ErrorCode::kInvalidArgument, "have 12"));
}

TEST(IntArray, KeepsItsValues) {
  const IntArray list = std::vector<int64_t>{3, -1, 0};
  EXPECT_EQ(std::accumulate(list.values().begin(), list.values().end(), int64_t{0}), 2);
  EXPECT_EQ(list, (IntArray{3, -1, 0}));
  EXPECT_TRUE(IntArray().empty());
}

TEST(Scalar, KeepsLargeIntegersAndComparesByKind) {
  const int64_t large = (int64_t{1} << 60) + 1;
  EXPECT_EQ(Scalar(large).to<int64_t>(), large);
  EXPECT_EQ(Scalar(0.5).to<double>(), 0.5);
  EXPECT_EQ(Scalar(0.5f).to<float>(), 0.5f);
  EXPECT_EQ(Scalar(2.9).to<int>(), 2);
  EXPECT_EQ(static_cast<float>(Scalar(3).to<bfloat16>()), 3.0f);
  EXPECT_EQ(Scalar(1), Scalar(int64_t{1}));
  EXPECT_FALSE(Scalar(1) == Scalar(1.0));
  EXPECT_FALSE(Scalar(true) == Scalar(1));
}

}  // namespace
}  // namespace phi
