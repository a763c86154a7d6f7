// Dims: extents held inline.
#include "phi/common/dims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
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

TEST(Dims, ProductsThatDoNotFitAreAnError) {
  constexpr int64_t kHalf = int64_t{1} << 32;
  const auto too_large = ThrowsError(ErrorCode::kInvalidArgument, "is too large: its elements");
  const Dims square{kHalf, kHalf};
  EXPECT_THAT([&] { return square.numel(); }, too_large);
  EXPECT_THAT([&] { return square.nbytes(1); }, too_large);
  EXPECT_THAT([&] { return Dims({2, kHalf, kHalf}).strides(); }, too_large);
  EXPECT_EQ(Dims({kHalf, kHalf / 4}).numel(), int64_t{1} << 62);
  EXPECT_EQ(Dims({kHalf, kHalf / 4}).nbytes(1), size_t{1} << 62);
  EXPECT_THAT(
      [&] {
        return Dims({kHalf, kHalf / 4}).nbytes(4);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "with 4 bytes per element"));
}

TEST(Dims, EmptyOnesFitWhatTheirOtherExtentsMake) {
  constexpr int64_t kHalf = int64_t{1} << 32;
  for (const Dims& dims : {Dims{kHalf, kHalf, 0}, Dims{0, kHalf, kHalf}, Dims{kHalf, 0, kHalf}}) {
    EXPECT_EQ(dims.numel(), 0);
    EXPECT_THAT([&] { return dims.nbytes(1); },
                ThrowsError(ErrorCode::kInvalidArgument, "extents of 0 counted as 1"));
  }
  EXPECT_EQ(Dims({kHalf, 0, kHalf / 16}).nbytes(4), 0u);
  EXPECT_EQ(Dims({0, 1, 0}).nbytes(16), 0u);
}

TEST(Dims, ArithmeticOfExtentsIsChecked) {
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(extent_times(6, 7), 42);
  EXPECT_EQ(extent_plus(6, 7), 13);
  EXPECT_EQ(extent_times(kUnknownDim, 7), kUnknownDim);
  EXPECT_EQ(extent_plus(kUnknownDim, 7), kUnknownDim);
  EXPECT_THAT([] { extent_times(kHighest, 2); },
              ThrowsError(ErrorCode::kInvalidArgument, "times 2 does not fit in 63 bits"));
  EXPECT_THAT([] { extent_plus(kHighest, 1); },
              ThrowsError(ErrorCode::kInvalidArgument, "plus 1 does not fit in 63 bits"));
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
