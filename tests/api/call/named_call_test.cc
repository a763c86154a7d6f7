// Operators called by name give what their functions give.
#include "api/call/named_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "api/generated/ops/assign.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/silu.h"
#include "api/generated/ops/swiglu.h"
#include "phi/core/op_def.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi::testing {
namespace {

const Tensor kX = Tensor::from<float>({1, -2, 3, 4, 5, -6}, {2, 3});

TEST(NamedCall, GivesWhatTheFunctionGives) {
  const TensorList out = call_op("matmul", {{kX}, {kX}}, {{"transpose_y", true}});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].to_vector<float>(), matmul(kX, kX, false, true).to_vector<float>());
}

TEST(NamedCall, TakesListsAndGivesThemOneElementAfterTheOther) {
  const TensorList joined = call_op("concat", {{kX, kX}}, {{"axis", int64_t{1}}});
  EXPECT_EQ(joined.at(0).shape(), (Dims{2, 6}));
  const TensorList parts =
      call_op("split", {{joined.at(0)}},
              {{"sections", std::vector<int64_t>{2, 3, 1}}, {"axis", int64_t{1}}});
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].to_vector<float>(), (std::vector<float>{3, 1, -2, -6, 4, 5}));
}

TEST(NamedCall, GivesHiddenOutputsAndUndefinedOnes) {
  const Tensor q = gaussian({1, 2, 1, 4}, 0.0f, 1.0f, 3);
  const TensorList out = call_op("flash_attention", {{q}, {q}, {q}, {Tensor()}, {Tensor()}});
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[0].shape(), q.shape());
  EXPECT_FALSE(out[1].defined());
  EXPECT_TRUE(out[2].defined());
}

TEST(NamedCall, OptionalArgumentsMayBeThere) {
  const TensorList halves = call_op("swiglu", {{kX}, {kX}});
  EXPECT_EQ(halves.at(0).to_vector<float>(), swiglu(kX, kX).to_vector<float>());
}

TEST(NamedCall, WritesTheArgumentsOfAnInplaceOperator) {
  Tensor param = assign(kX);
  const TensorList out =
      call_op("scaled_sgd_", {{param}, {kX}, {Tensor()}, {full({1}, 0.5f)}, {Tensor()}});
  EXPECT_EQ(out.at(0).to_vector<float>(), (std::vector<float>{0.5, -1, 1.5, 2, 2.5, -3}));
  EXPECT_EQ(param.to_vector<float>(), out[0].to_vector<float>());
}

TEST(NamedCall, OperatorsMadeOfOthersAndGradientsAreCalled) {
  EXPECT_EQ(call_function("silu", {{kX}}, {}).at(0).to_vector<float>(),
            silu(kX).to_vector<float>());
  const TensorList grad = call_op("relu_grad", {{relu(kX)}, {kX}}, {});
  EXPECT_EQ(grad.at(0).to_vector<float>(), (std::vector<float>{1, 0, 3, 4, 5, 0}));
}

TEST(NamedCall, PlacesAreText) {
  const std::vector<int64_t> shape = {2};
  const TensorList out =
      call_op("full", {}, {{"shape", shape}, {"value", 3.0}, {"place", std::string("cpu")}});
  EXPECT_EQ(out.at(0).to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_THAT(
      [&] {
        call_op("full", {}, {{"shape", shape}, {"value", 3.0}, {"place", std::string("moon")}});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "'moon', expected a place"));
}

TEST(NamedCall, EveryOperatorWithAKernelHasOne) {
  std::set<std::string> names;
  for (const NamedCall& call : built_in_calls()) names.insert(call.name);
  for (const OpDef* op : ops::all()) EXPECT_TRUE(names.contains(op->name)) << op->name;
}

TEST(NamedCall, SaysWhatIsWrong) {
  EXPECT_THAT(
      [] {
        call_function("matmull", {{kX}, {kX}}, {});
      },
      ThrowsError(ErrorCode::kNotFound, "matmull"));
  EXPECT_THAT(
      [] { call_op("matmul", {{kX}}); },
      ThrowsError(ErrorCode::kInvalidArgument, "matmul takes more tensor arguments than the 1"));
  EXPECT_THAT(
      [] {
        call_op("matmul", {{kX, kX}, {kX}});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "argument 0 of matmul is one tensor, 2"));
  EXPECT_THAT(
      [] {
        call_function("matmul", {{kX}, {kX}}, std::vector<AttributeValue>{true});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "matmul takes more attributes than the 1"));
  EXPECT_THAT(
      [] {
        call_op("matmul", {{kX}, {kX}}, {{"transpose", true}});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "matmul has no attribute 'transpose'"));
}

}  // namespace
}  // namespace phi::testing
