// Shapes, dtypes and error texts of elementwise ops and of axes.
#include "phi/infermeta/elementwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "phi/infermeta/axes.h"
#include "phi/infermeta/dtype_range.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

constexpr DataType kF32 = DataType::FLOAT32;

TEST(BroadcastDims, MatchesFromTheLast) {
  struct Row {
    Dims x, y, out;
  };
  const Row rows[] = {
      {{}, {}, {}},
      {{2, 3}, {}, {2, 3}},
      {{2, 3}, {3}, {2, 3}},
      {{3}, {2, 3}, {2, 3}},
      {{2, 1}, {1, 3}, {2, 3}},
      {{4, 1, 3}, {5, 1}, {4, 5, 3}},
      {{0, 3}, {1, 3}, {0, 3}},
      {{1}, {0}, {0}},
      {{kUnknownDim, 3}, {3}, {kUnknownDim, 3}},
      {{kUnknownDim}, {7}, {7}},
      {{1}, {kUnknownDim}, {kUnknownDim}},
      {{7}, {kUnknownDim}, {7}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(broadcast_dims(row.x, row.y).to_string(), row.out.to_string())
        << row.x.to_string() << " with " << row.y.to_string();
  }
}

TEST(ElementwiseInferMeta, ErrorsShowBothShapes) {
  EXPECT_THAT(
      [] {
        ElementwiseInferMeta({{2, 3}, kF32}, {{2, 4}, kF32});
      },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "x has shape [2,3] and y has shape [2,4]: their tensor dims 1 from the "
                  "last are 3 and 4, which do not broadcast"));
  EXPECT_THAT(
      [] {
        ElementwiseInferMeta({{0}, kF32}, {{2}, kF32});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "are 0 and 2"));
  EXPECT_THAT(
      [] {
        ElementwiseInferMeta({{2}, kF32}, {{2}, DataType::INT64});
      },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "x is f32[2] and y is i64[2]: their dtypes differ; cast one of them."));
}

TEST(CompareInferMeta, IsBoolOfTheBroadcastShape) {
  EXPECT_EQ(CompareInferMeta({{2, 1}, kF32}, {{3}, kF32}).to_string(), "bool[2,3]");
  EXPECT_THAT(
      [] {
        CompareInferMeta({{2}, kF32}, {{2}, DataType::INT64});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "their dtypes differ"));
}

TEST(ElementwiseInferMeta, TheOpIsNamedInFront) {
  const OpScope scope("add");
  EXPECT_THAT(
      [] {
        ElementwiseInferMeta({{2}, kF32}, {{3}, kF32});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "[add] x has shape [2]"));
}

TEST(CastInferMeta, TakesTheDtypeAndKeepsTheLayout) {
  const TensorMeta x = {{2, 3}, kF32, DataLayout::NHWC};
  EXPECT_EQ(CastInferMeta(x, DataType::INT32),
            (TensorMeta{{2, 3}, DataType::INT32, DataLayout::NHWC}));
  EXPECT_THAT([&] { CastInferMeta(x, DataType::UNDEFINED); },
              ThrowsError(ErrorCode::kInvalidArgument, "dtype is undefined for x f32[2,3]"));
}

TEST(FullLikeInferMeta, AnUndefinedDtypeIsThatOfX) {
  EXPECT_EQ(FullLikeInferMeta({{2}, kF32}, 1, DataType::UNDEFINED).to_string(), "f32[2]");
  EXPECT_EQ(FullLikeInferMeta({{2}, kF32}, 1, DataType::BOOL).to_string(), "bool[2]");
}

TEST(FullLikeInferMeta, ANumberMustBeOneOfTheDtypes) {
  const TensorMeta x{{2}, kF32};
  struct Range {
    DataType dtype;
    double lowest, highest;
  };
  for (const Range& range : {Range{DataType::UINT8, 0, 255}, Range{DataType::INT8, -128, 127},
                             Range{DataType::BOOL, 0, 1}, Range{DataType::FLOAT16, -65504, 65504},
                             Range{DataType::BFLOAT16, -0x1.fep127, 0x1.fep127},
                             Range{DataType::COMPLEX64, -0x1.fffffep127, 0x1.fffffep127}}) {
    const bool holds_infinity = is_floating(range.dtype) || is_complex(range.dtype);
    std::vector<double> inside = {range.lowest, range.highest};
    std::vector<double> outside = {1.01 * range.lowest - 1, 1.01 * range.highest + 1};
    for (const double x : {double{INFINITY}, -double{INFINITY}, double{NAN}}) {
      (holds_infinity ? inside : outside).push_back(x);
    }
    for (const double number : inside) {
      EXPECT_EQ(FullLikeInferMeta(x, number, range.dtype).dtype, range.dtype);
    }
    for (const double number : outside) {
      EXPECT_THAT([&] { FullLikeInferMeta(x, number, range.dtype); },
                  ThrowsError(ErrorCode::kInvalidArgument, "pass one of these, or a dtype"));
    }
  }
}

TEST(CheckHeld, BoundsOfInt64AreExact) {
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
  check_held(kHighest, DataType::INT64, "value");
  check_held(-0x1p63, DataType::INT64, "value");
  check_held(255.9, DataType::UINT8, "value");  // without its fraction
  EXPECT_THAT([] { check_held(0x1p63, DataType::INT64, "value"); },
              ThrowsError(ErrorCode::kInvalidArgument, "value is 9.223372036854776e+18"));
  EXPECT_THAT([] { check_held(kHighest, DataType::INT32, "start"); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "start is 9223372036854775807, but numbers of int32 are from -2147483648 "
                          "to 2147483647"));
  EXPECT_EQ(count_of(3.0, "number"), 3);
  EXPECT_THAT([] { count_of(1e30, "number"); },
              ThrowsError(ErrorCode::kInvalidArgument, "number is 1e+30"));
}

TEST(WhereInferMeta, AllThreeBroadcast) {
  EXPECT_EQ(WhereInferMeta({{4, 1, 1}, DataType::BOOL}, {{3, 1}, kF32}, {{2}, kF32}).to_string(),
            "f32[4,3,2]");
  EXPECT_THAT(
      [] {
        WhereInferMeta({{2}, kF32}, {{2}, kF32}, {{2}, kF32});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "condition is f32[2], but it must be bool"));
  EXPECT_THAT(
      [] {
        WhereInferMeta({{5}, DataType::BOOL}, {{2}, kF32}, {{2}, kF32});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "condition has shape [5]"));
}

TEST(AddNInferMeta, InputsAreAlike) {
  const TensorMeta inputs[] = {{{2, 3}, kF32}, {{2, 3}, kF32}, {{1, 3}, kF32}};
  EXPECT_EQ(AddNInferMeta(std::span(inputs, 2)), inputs[0]);
  EXPECT_EQ(AddNInferMeta(std::span(inputs).subspan(1, 1)), inputs[1]);  // alone, beside another
  EXPECT_THAT(
      [&] { AddNInferMeta(inputs); },
      ThrowsError(ErrorCode::kInvalidArgument, "inputs[0] is f32[2,3] and inputs[2] is f32[1,3]"));
  EXPECT_THAT([] { AddNInferMeta({}); },
              ThrowsError(ErrorCode::kInvalidArgument, "inputs is an empty list"));
}

TEST(NormaliseAxes, NegativeAllAndRepeated) {
  const AxisSet some = normalise_axes({-1, 0}, {2, 3, 4});
  EXPECT_TRUE(some.has(0) && !some.has(1) && some.has(2));
  const AxisSet all = normalise_axes({}, {2, 3});
  EXPECT_TRUE(all.has(0) && all.has(1));
  EXPECT_FALSE(normalise_axes({-1}, {}).has(0));
  EXPECT_THAT(
      [] {
        normalise_axes({1, -1}, {2, 3});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "more than once"));
  EXPECT_THAT(
      [] {
        normalise_axes({2}, {2, 3});
      },
      ThrowsError(ErrorCode::kOutOfRange,
                  "axis is 2, but a tensor of shape [2,3] allows -2 to 1 here."));
}

}  // namespace
}  // namespace phi
