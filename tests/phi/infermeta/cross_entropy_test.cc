// Shapes and error texts of softmax with cross entropy.
#include "phi/infermeta/cross_entropy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "phi/common/errors.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

const TensorMeta kInput{{2, 3, 4}, DataType::FLOAT32};

std::string run(const TensorMeta& label, bool soft, int axis) {
  try {
    const auto [softmax, loss] =
        CrossEntropyWithSoftmaxInferMeta(kInput, label, soft, true, true, -100, axis);
    return softmax.to_string() + " " + loss.to_string();
  } catch (const Error& error) {
    return words_of(error);
  }
}

TEST(CrossEntropyInferMeta, Shapes) {
  EXPECT_EQ(run({{2, 3, 1}, DataType::INT64}, false, -1), "f32[2,3,4] f32[2,3,1]");
  EXPECT_EQ(run({{2, 3}, DataType::INT32}, false, 2), "f32[2,3,4] f32[2,3,1]");
  EXPECT_EQ(run({{2, 1, 4}, DataType::INT64}, false, 1), "f32[2,3,4] f32[2,1,4]");
  EXPECT_EQ(run(kInput, true, 0), "f32[2,3,4] f32[1,3,4]");
}

TEST(CrossEntropyInferMeta, Errors) {
  using ::testing::HasSubstr;
  EXPECT_THAT(run({{2, 3, 4}, DataType::INT64}, false, -1),
              HasSubstr("label is i64[2,3,4] and input is f32[2,3,4] with its classes on tensor "
                        "dim 2: label must be [2,3,1] or [2,3]"));
  EXPECT_THAT(run(kInput, false, -1), HasSubstr("pass soft_label=true"));
  EXPECT_THAT(run({{2, 3, 1}, DataType::FLOAT32}, true, -1), HasSubstr("same shape and dtype"));
  EXPECT_THAT([] { CrossEntropyWithSoftmaxInferMeta(kInput, kInput, true, true, true, -100, 3); },
              ThrowsError(ErrorCode::kOutOfRange, "axis is 3, but a tensor of shape [2,3,4]"));
}

}  // namespace
}  // namespace phi
