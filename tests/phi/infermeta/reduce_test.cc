// Shapes, dtypes and error texts of reductions.
#include "phi/infermeta/reduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace phi {
namespace {

constexpr DataType kF32 = DataType::FLOAT32;

TEST(ReduceInferMeta, Shapes) {
  struct Row {
    Dims x;
    IntArray axis;
    bool keepdim;
    Dims out;
  };
  const Row rows[] = {
      {{2, 3, 4}, {}, false, {}},
      {{2, 3, 4}, {}, true, {1, 1, 1}},
      {{2, 3, 4}, {1}, false, {2, 4}},
      {{2, 3, 4}, {-1, 0}, false, {3}},
      {{2, 3, 4}, {-1}, true, {2, 3, 1}},
      {{}, {}, false, {}},
      {{}, {0}, true, {}},
      {{0, 3}, {0}, false, {3}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ReduceInferMeta({row.x, kF32}, row.axis, row.keepdim).dims.to_string(),
              row.out.to_string())
        << row.x.to_string() << " over " << row.axis.to_string();
  }
}

TEST(MaxInferMeta, NothingHasNoLargestElement) {
  EXPECT_EQ(MaxInferMeta({{0, 3}, kF32}, {1}, false).to_string(), "f32[0]");
  EXPECT_EQ(MaxInferMeta({{kUnknownDim, 3}, kF32}, {0}, false).to_string(), "f32[3]");
  for (const IntArray& axis : {IntArray{0}, IntArray{}, IntArray{-2, 1}}) {
    EXPECT_THAT(
        [&] {
          MaxInferMeta({{0, 3}, kF32}, axis, true);
        },
        ThrowsError(ErrorCode::kInvalidArgument,
                    "x f32[0,3] has no elements over axis " + axis.to_string()));
  }
}

TEST(MeanInferMeta, IntegersKeepTheirDtypeAndNeedElements) {
  EXPECT_EQ(MeanInferMeta({{2, 3}, DataType::INT32}, {1}, false).to_string(), "i32[2]");
  EXPECT_EQ(MeanInferMeta({{0, 3}, DataType::INT32}, {1}, false).to_string(), "i32[0]");
  EXPECT_EQ(MeanInferMeta({{0, 3}, kF32}, {0}, false).to_string(), "f32[3]");
  EXPECT_THAT(
      [] {
        MeanInferMeta({{0, 3}, DataType::INT64}, {0}, false);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "an integer cannot represent an undefined mean"));
}

TEST(SumInferMeta, IntegersPromoteUnlessADtypeIsAskedFor) {
  const auto dtype = [](DataType x, DataType asked) {
    return SumInferMeta({{2}, x}, {}, asked, false).dtype;
  };
  EXPECT_EQ(dtype(DataType::BOOL, DataType::UNDEFINED), DataType::INT64);
  EXPECT_EQ(dtype(DataType::INT32, DataType::UNDEFINED), DataType::INT64);
  EXPECT_EQ(dtype(DataType::BFLOAT16, DataType::UNDEFINED), DataType::BFLOAT16);
  EXPECT_EQ(dtype(DataType::INT32, DataType::INT32), DataType::INT32);
  EXPECT_EQ(dtype(DataType::FLOAT16, kF32), kF32);
}

TEST(ReduceAsInferMeta, TakesTheTargetsShapeIfItBroadcasts) {
  const auto reduced = [](Dims x, Dims target) {
    return ReduceAsInferMeta({x, kF32}, {target, DataType::INT64}).to_string();
  };
  EXPECT_EQ(reduced({2, 3, 4}, {4}), "f32[4]");
  EXPECT_EQ(reduced({2, 3, 4}, {1, 3, 1}), "f32[1,3,1]");
  EXPECT_EQ(reduced({2, 3}, {2, 3}), "f32[2,3]");
  EXPECT_EQ(reduced({2, 3}, {}), "f32[]");
  EXPECT_EQ(reduced({0, 3}, {1, 3}), "f32[1,3]");
  for (const Dims& target : {Dims{3}, Dims{2, 1, 4}, Dims{1, 2, 3, 4}}) {
    EXPECT_THAT(
        [&] {
          reduced({3, 3, 4}, target);
        },
        ThrowsError(ErrorCode::kInvalidArgument,
                    "x is f32[3,3,4] and target is i64" + target.to_string() +
                        ": counted from the last, each tensor dim of target must be"));
  }
}

TEST(SquaredL2NormInferMeta, IsOneFloat32OrFloat64ForFloat64) {
  EXPECT_EQ(SquaredL2NormInferMeta({{2, 3}, kF32}).to_string(), "f32[1]");
  EXPECT_EQ(SquaredL2NormInferMeta({{2}, DataType::BFLOAT16}).to_string(), "f32[1]");
  EXPECT_EQ(SquaredL2NormInferMeta({{}, DataType::FLOAT64}).to_string(), "f64[1]");
  EXPECT_THAT(
      [] {
        SquaredL2NormInferMeta({{2}, DataType::INT32});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "x is i32[2], but it must be floating"));
}

TEST(ArgMaxInferMeta, ShapesAndErrors) {
  constexpr DataType kI64 = DataType::INT64;
  EXPECT_EQ(ArgMaxInferMeta({{2, 3}, kF32}, -1, false, false, kI64).to_string(), "i64[2]");
  EXPECT_EQ(ArgMaxInferMeta({{2, 3}, kF32}, 0, true, false, DataType::INT32).to_string(),
            "i32[1,3]");
  EXPECT_EQ(ArgMaxInferMeta({{2, 3}, kF32}, 0, false, true, kI64).to_string(), "i64[]");
  EXPECT_EQ(ArgMaxInferMeta({{2, 3}, kF32}, 0, true, true, kI64).to_string(), "i64[1,1]");
  EXPECT_EQ(ArgMaxInferMeta({{0, 3}, kF32}, 1, false, false, kI64).to_string(), "i64[0]");
  EXPECT_THAT(
      [] {
        ArgMaxInferMeta({{0, 3}, kF32}, 0, false, false, kI64);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "x f32[0,3] has no elements"));
  EXPECT_THAT(
      [] {
        ArgMaxInferMeta({{2}, kF32}, 0, false, false, kF32);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "dtype is float32"));
  EXPECT_THAT(
      [] {
        ArgMaxInferMeta({{int64_t{1} << 32}, kF32}, 0, false, false, DataType::INT32);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "does not fit int32"));
  EXPECT_THAT(
      [] {
        ArgMaxInferMeta({{2}, kF32}, 1, false, false, kI64);
      },
      ThrowsError(ErrorCode::kOutOfRange, "axis is 1"));
}

}  // namespace
}  // namespace phi
