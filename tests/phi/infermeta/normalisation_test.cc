// Shapes, statistics dtypes and error texts of softmax and the normalisation layers.
#include "phi/infermeta/normalisation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "phi/common/errors.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return words_of(error);
  }
  return "no error";
}

const TensorMeta kX{{2, 3, 4}, DataType::BFLOAT16};

TEST(NormalisationInferMeta, Shapes) {
  const TensorMeta scale{{12}, DataType::FLOAT32};
  const auto [out, mean, variance] = LayerNormInferMeta(kX, &scale, nullptr, 1e-5f, 1);
  EXPECT_EQ(out.to_string(), "bf16[2,3,4]");
  EXPECT_EQ(mean.to_string(), "f32[2]");
  EXPECT_EQ(variance.to_string(), "f32[2]");
  const auto [y, invvar] = RmsNormInferMeta(kX, {{4}, DataType::BFLOAT16}, 1e-6f);
  EXPECT_EQ(y.to_string(), "bf16[2,3,4]");
  EXPECT_EQ(invvar.to_string(), "f32[2,3]");
  EXPECT_EQ(statistics_dtype(DataType::FLOAT64), DataType::FLOAT64);
  EXPECT_EQ(SoftmaxInferMeta(kX, -3).to_string(), "bf16[2,3,4]");
}

TEST(NormalisationInferMeta, Errors) {
  const TensorMeta wrong{{4}, DataType::FLOAT32};
  const TensorMeta f64{{12}, DataType::FLOAT64};
  EXPECT_THAT(error_of([&] { LayerNormInferMeta(kX, nullptr, &wrong, 1e-5f, 1); }),
              HasSubstr("bias is f32[4], but x bf16[2,3,4] is normalised from tensor dim 1 on, "
                        "over 12 elements; bias must be [12]"));
  EXPECT_THAT(
      error_of([&] { LayerNormInferMeta(kX, &f64, nullptr, 1e-5f, 1); }),
      HasSubstr("scale is f64[12] and x is bf16[2,3,4]: scale must be bfloat16 or float32"));
  EXPECT_THAT(error_of([] { LayerNormInferMeta(kX, nullptr, nullptr, 1e-5f, 3); }),
              HasSubstr("begin_norm_axis is 3, but x is bf16[2,3,4]; it must be in [1, 3)"));
  EXPECT_THAT(error_of([] { LayerNormInferMeta(kX, nullptr, nullptr, -1.0f, 1); }),
              HasSubstr("epsilon is -1"));
  EXPECT_THAT(error_of([&] { RmsNormInferMeta(kX, f64, 1e-5f); }), HasSubstr("scale"));
  EXPECT_THAT([] { SoftmaxInferMeta(kX, 3); },
              ThrowsError(ErrorCode::kOutOfRange, "axis is 3, but a tensor of shape [2,3,4]"));
  EXPECT_THAT(error_of([] {
                SoftmaxInferMeta({{2}, DataType::INT32}, 0);
              }),
              HasSubstr("x is i32[2], but it must be floating"));
}

}  // namespace
}  // namespace phi
