// Shapes of scans and of ops that order, and what they refuse of sizes that no tensor here has.
#include "phi/infermeta/sort.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "phi/infermeta/data_dependent.h"
#include "phi/infermeta/statistics.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

constexpr DataType kF32 = DataType::FLOAT32;
constexpr int64_t kMany = int64_t{1} << 31;

TEST(CumsumInferMeta, FlattensOrKeepsTheShape) {
  EXPECT_EQ(CumsumInferMeta({{2, 3}, kF32}, -1, false).to_string(), "f32[2,3]");
  EXPECT_EQ(CumsumInferMeta({{2, 3}, kF32}, 5, true).to_string(), "f32[6]");
  EXPECT_EQ(CumsumInferMeta({{}, kF32}, 0, false).to_string(), "f32[]");
}

TEST(NanmedianInferMeta, MediansHaveTwoPlacesOfAMeanAndOneOfTheLower) {
  const auto [out, medians] = NanmedianInferMeta({{2, 3}, kF32}, {1}, true, "avg");
  EXPECT_EQ(out.to_string(), "f32[2,1]");
  EXPECT_EQ(medians.to_string(), "i64[2,1,2]");
  const auto [lower, place] = NanmedianInferMeta({{2, 3}, kF32}, {1}, false, "min");
  EXPECT_EQ(place.to_string(), "i64[2]");
}

TEST(OrderInferMeta, PlacesThatInt32DoesNotHoldAreRefused) {
  EXPECT_THAT(
      [] {
        CumWithIndicesInferMeta({{kMany}, kF32}, 0, DataType::INT32);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "does not fit int32; use dtype int64"));
  EXPECT_THAT(
      [] {
        SearchsortedInferMeta({{kMany}, kF32}, {{2}, kF32}, true);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "does not fit int32; omit out_int32"));
  EXPECT_THAT(
      [] {
        UniqueInferMeta({{kMany}, kF32}, false, false, false, {}, DataType::INT32);
      },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "has 2147483648 items, more than it can count; use int64"));
}

TEST(BincountInferMeta, WeightsDecideTheDtype) {
  const TensorMeta x{{4}, DataType::INT32};
  const TensorMeta single{{4}, kF32};
  const TensorMeta integers{{4}, DataType::INT64};
  EXPECT_EQ(BincountInferMeta(x, nullptr, 0).dtype, DataType::INT64);
  EXPECT_EQ(BincountInferMeta(x, &single, 0).dtype, kF32);
  EXPECT_EQ(BincountInferMeta(x, &integers, 0).dtype, DataType::FLOAT64);
}

}  // namespace
}  // namespace phi
