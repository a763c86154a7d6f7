// Shapes that rules of products and signals refuse, asked without their operators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distributed/spmd/rules/fft.h"
#include "distributed/spmd/rules/matmul.h"
#include "tests/support/error_matchers.h"

namespace phi::distributed {
namespace {

TensorSpec spec(const Dims& shape) { return {shape, TensorDistAttr::replicated(ProcessMesh({2}))}; }

TEST(ProductRules, RefuseOtherNumbersOfDims) {
  EXPECT_THAT(
      [] {
        AddmmInferSpmd(spec({2, 2, 2}), spec({2, 2}), spec({2, 2}));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "it has 2 dims at most"));
  EXPECT_THAT(
      [] {
        AddmmInferSpmd(spec({2, 2}), spec({2}), spec({2, 2}));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "both have 2 dims"));
}

TEST(SignalRules, RefuseTensorsWithoutASignal) {
  EXPECT_THAT([] { FrameInferSpmd(spec({}), -1); },
              ThrowsError(ErrorCode::kInvalidArgument, "a signal has 1, frames have 2"));
}

}  // namespace
}  // namespace phi::distributed
