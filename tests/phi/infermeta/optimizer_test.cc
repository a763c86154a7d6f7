// Shapes, dtypes and error texts of the optimizers' steps and of gradients.
#include "phi/infermeta/optimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "phi/common/errors.h"
#include "phi/infermeta/grad.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using ::testing::HasSubstr;

const TensorMeta kF32{{2, 3}, DataType::FLOAT32};
const TensorMeta kF64{{2, 3}, DataType::FLOAT64};
const TensorMeta kBf16{{2, 3}, DataType::BFLOAT16};
const TensorMeta kOther{{3, 2}, DataType::FLOAT32};
const TensorMeta kInt{{2, 3}, DataType::INT32};

TEST(OptimizerInferMeta, OutputsAreAsTheirInputs) {
  const auto [param, moment1, moment2, master] = AdamwInferMeta(kBf16, kF32, kF32, kF32, &kF32);
  EXPECT_EQ(param, kBf16);
  EXPECT_EQ(moment1, kF32);
  EXPECT_EQ(moment2, kF32);
  EXPECT_EQ(master, kF32);
  EXPECT_EQ(std::get<1>(SgdInferMeta(kF32, kF32, nullptr)), std::nullopt);
  EXPECT_EQ(std::get<1>(MomentumInferMeta(kF64, kF32, kF64, nullptr)), kF64);
}

std::string error_of_adamw(const TensorMeta& param, const TensorMeta& grad, const TensorMeta& m1,
                           const TensorMeta& m2, const TensorMeta* master) {
  try {
    AdamwInferMeta(param, grad, m1, m2, master);
  } catch (const Error& error) {
    return words_of(error);
  }
  return "no error";
}

TEST(OptimizerInferMeta, ErrorsNameTheArgument) {
  EXPECT_THAT(error_of_adamw(kInt, kInt, kF32, kF32, nullptr),
              HasSubstr("param is i32[2,3], but it must be floating"));
  EXPECT_THAT(error_of_adamw(kF32, kOther, kF32, kF32, nullptr),
              HasSubstr("grad is f32[3,2] and param is f32[2,3]: they must have one shape"));
  EXPECT_THAT(error_of_adamw(kF32, kBf16, kF32, kF32, nullptr),
              HasSubstr("grad is bf16[2,3] and param is f32[2,3]: grad must be float32;"));
  EXPECT_THAT(error_of_adamw(kF32, kF32, kOther, kF32, nullptr),
              HasSubstr("moment1 is f32[3,2] and param is f32[2,3]: they must have one shape"));
  EXPECT_THAT(error_of_adamw(kBf16, kF32, kF32, kBf16, nullptr),
              HasSubstr("moment2 is bf16[2,3] and param is bf16[2,3]: moment2 must be float32"));
  EXPECT_THAT(error_of_adamw(kBf16, kF32, kF32, kF32, &kBf16),
              HasSubstr("master_param is bf16[2,3] and param is bf16[2,3]: a master copy is "
                        "float32 and belongs to a 16-bit param; cast it"));
  EXPECT_THAT(error_of_adamw(kF32, kF32, kF32, kF32, &kF32), HasSubstr("omit it"));
}

TEST(GradientInferMeta, IsAsTheTensor) {
  const TensorMeta* absent = nullptr;
  const auto [x, y] = GeneralBinaryGradInferMeta(kF32, kBf16);
  EXPECT_EQ(x, kF32);
  EXPECT_EQ(y, kBf16);
  const auto [a, b, c] = GeneralTernaryGradInferMeta(kF32, absent, &kF64);
  EXPECT_EQ(a, kF32);
  EXPECT_EQ(b, std::nullopt);
  EXPECT_EQ(c, kF64);
}

}  // namespace
}  // namespace phi
