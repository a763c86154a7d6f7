// Shapes and error texts of ops that make tensors.
#include "phi/infermeta/creation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/error_matchers.h"

namespace phi {
namespace {

TEST(CreateInferMeta, ShapeAndDtype) {
  EXPECT_EQ(CreateInferMeta({2, 0, 3}, DataType::BOOL).to_string(), "bool[2,0,3]");
  EXPECT_EQ(CreateInferMeta({}, DataType::FLOAT32).to_string(), "f32[]");
  EXPECT_THAT(
      [] {
        CreateInferMeta({2, -3}, DataType::BOOL);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "extents must be at least 0"));
  EXPECT_THAT([] { CreateInferMeta({2}, DataType::UNDEFINED); },
              ThrowsError(ErrorCode::kInvalidArgument, "dtype is undefined"));
}

TEST(ArangeInferMeta, CountsTheElements) {
  struct Row {
    Scalar start, end, step;
    int64_t count;
  };
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();
  const Row rows[] = {
      {0, 5, 1, 5},
      {0, 5, 2, 3},
      {0, 6, 2, 3},
      {5, 0, 1, 0},
      {5, 0, -2, 3},
      {3, 3, 1, 0},
      {0, 1, 0.1, 10},
      {0.0, 1.05, 0.5, 3},
      {0.0, 0.3, 0.1, 3},
      {0.0f, 0.3f, 0.1f, 3},  // a little more than 3 steps, were they of double
      {0.0, 1e9, 3.0, 333333334},
      {1, 0, -0.25, 4},
      {kHigh - 1, kHigh, 1, 1},
      {kLow, kHigh, kHigh, 3},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ArangeInferMeta(row.start, row.end, row.step, DataType::FLOAT32).dims[0], row.count)
        << row.start.to_string() << ":" << row.end.to_string() << ":" << row.step.to_string();
  }
}

TEST(ArangeInferMeta, Errors) {
  constexpr DataType kI64 = DataType::INT64;
  EXPECT_THAT([] { ArangeInferMeta(0, 5, 0, kI64); },
              ThrowsError(ErrorCode::kInvalidArgument, "step is 0"));
  EXPECT_THAT([] { ArangeInferMeta(0, 5, 0.0, kI64); },
              ThrowsError(ErrorCode::kInvalidArgument, "step is 0"));
  EXPECT_THAT([] { ArangeInferMeta(0, INFINITY, 1, kI64); },
              ThrowsError(ErrorCode::kInvalidArgument, "must be finite"));
  EXPECT_THAT([] { ArangeInferMeta(0, 5, 1, DataType::BOOL); },
              ThrowsError(ErrorCode::kInvalidArgument, "dtype is bool"));
}

TEST(DropoutInferMeta, TheMaskIsUint8) {
  const auto [out, mask] = DropoutInferMeta({{2, 3}, DataType::BFLOAT16});
  EXPECT_EQ(out.to_string(), "bf16[2,3]");
  EXPECT_EQ(mask.to_string(), "u8[2,3]");
}

}  // namespace
}  // namespace phi
