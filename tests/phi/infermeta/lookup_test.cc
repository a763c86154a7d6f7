// Shapes and error texts of table lookups.
#include "phi/infermeta/lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "phi/common/errors.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using ::testing::HasSubstr;

const TensorMeta kIds{{2, 3}, DataType::INT64};
const TensorMeta kTable{{7, 4}, DataType::FLOAT32};

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return words_of(error);
  }
  return "no error";
}

TEST(LookupInferMeta, Shapes) {
  EXPECT_EQ(EmbeddingInferMeta(kIds, kTable, -1, false).to_string(), "f32[2,3,4]");
  const TensorMeta x{{5, 6, 7}, DataType::BFLOAT16};
  EXPECT_EQ(GatherInferMeta(x, {{9}, DataType::INT32}, -2).to_string(), "bf16[5,9,7]");
  EXPECT_EQ(GatherInferMeta(x, {{}, DataType::INT32}, 0).to_string(), "bf16[6,7]");
  EXPECT_EQ(OneHotInferMeta(kIds, 5).to_string(), "f32[2,3,5]");
}

TEST(LookupInferMeta, Errors) {
  EXPECT_THAT(error_of([] { EmbeddingInferMeta(kTable, kTable, -1, false); }),
              HasSubstr("x is f32[7,4], but ids must be int32 or int64"));
  EXPECT_THAT(error_of([] { EmbeddingInferMeta(kIds, kIds, -1, false); }),
              HasSubstr("weight is i64[2,3], but it must be a [V, D] table of floats"));
  EXPECT_THAT(error_of([] { EmbeddingInferMeta(kIds, kTable, 7, false); }),
              HasSubstr("padding_idx is 7"));
  EXPECT_THAT(
      [] { EmbeddingInferMeta(kIds, kTable, -1, true); },
      ThrowsError(ErrorCode::kUnimplemented, "row-sparse gradients, which are not supported"));
  EXPECT_THAT(error_of([] { GatherInferMeta(kTable, kIds, 0); }), HasSubstr("0-D or 1-D"));
  EXPECT_THAT(
      [] {
        GatherInferMeta(kTable, {{1}, DataType::INT32}, 2);
      },
      ThrowsError(ErrorCode::kOutOfRange, "axis is 2, but a tensor of shape [7,4]"));
  EXPECT_THAT(error_of([] { OneHotInferMeta(kIds, 0); }), HasSubstr("num_classes is 0"));
}

}  // namespace
}  // namespace phi
