// Rules asked in tests, and what GoogleTest prints of their answers.
#include "api/testing/infer.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace phi::testing {
namespace {

using distributed::Partial;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::TensorDistAttr;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::PrintToString;

const ProcessMesh& mesh() {
  static const ProcessMesh mesh({2, 2}, {"dp", "tp"});
  return mesh;
}

TEST(Infer, AnswersAsACallWouldDo) {
  const Inferred r = infer("matmul", mesh(),
                           {{{64, 32}, {Shard(0), Shard(1)}}, {{32, 16}, {Replicate(), Shard(0)}}});
  EXPECT_EQ(r.outputs[0], TensorDistAttr::get(mesh(), {Shard(0), Partial()}));
  EXPECT_EQ(r.shapes[0], Dims({64, 16}));
  EXPECT_THAT(r.moves, IsEmpty());
  EXPECT_THAT(r.conflicts, IsEmpty());
}

TEST(Infer, SaysWhatMovesAndWhatDisagrees) {
  EXPECT_THAT(infer("softmax", mesh(), {{{8, 6}, {Shard(1)}}}, {{"axis", int64_t{1}}}).moves,
              ElementsAre(0));
  const Inferred r =
      infer("add", mesh(), {{{4, 4}, {Shard(0)}}, {{4, 4}, {Replicate(), Shard(0)}}});
  EXPECT_THAT(r.moves, ElementsAre(1));
  EXPECT_THAT(r.conflicts, ElementsAre(HasSubstr("is split over mesh dim 'dp' by one tensor")));
}

TEST(Infer, TakesListsDtypesAndTensorsThatAreNotGiven) {
  const std::vector<RuleTensor> parts = {{{2, 4}, {Shard(1)}}, {{3, 4}, {}}};
  EXPECT_EQ(infer("concat", mesh(), {parts}).outputs[0], TensorDistAttr::get(mesh(), {Shard(1)}));
  for (const auto& arguments :
       {std::vector<RuleArgument>{{{8, 6}, {Shard(0)}}},
        std::vector<RuleArgument>{{{8, 6}, {Shard(0)}}, std::nullopt, std::nullopt}}) {
    const Inferred r = infer("layer_norm", mesh(), arguments);
    EXPECT_EQ(r.inputs[1], nullptr);
    EXPECT_EQ(r.outputs[0], TensorDistAttr::get(mesh(), {Shard(0)}));
  }
  EXPECT_EQ(infer("relu", mesh(), {{{8}, {Shard(0)}, DataType::BFLOAT16}}).inputs.size(), 1u);
}

TEST(Infer, GoesFromOutputsToInputs) {
  const Inferred r = infer_backward("matmul", mesh(), {{{8, 4}, {}}, {{4, 6}, {}}},
                                    {{{8, 6}, {Shard(0), Shard(1)}}});
  EXPECT_EQ(r.inputs[0], TensorDistAttr::get(mesh(), {Shard(0)}));
  EXPECT_EQ(r.inputs[1], TensorDistAttr::get(mesh(), {Replicate(), Shard(1)}));
}

TEST(Infer, ErrorsAreThoseOfTheRule) {
  EXPECT_THAT([] { infer("matmull", mesh(), {}); },
              ThrowsError(ErrorCode::kNotFound, "the nearest are matmul"));
  EXPECT_THAT(
      [] {
        infer("add", mesh(), {{{4}, {}}});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "1 inputs are passed, add takes 2: x, y"));
  EXPECT_THAT([] { infer("relu", mesh(), {std::nullopt}); },
              ThrowsError(ErrorCode::kInvalidArgument, "x of relu is not optional; pass it."));
}

TEST(Print, AttributesAreWords) {
  const TensorDistAttr* attr = TensorDistAttr::get(mesh(), {Shard(0), Partial()});
  EXPECT_EQ(PrintToString(attr), "[S0,P(sum)] on mesh(dp=2,tp=2)");
  EXPECT_EQ(PrintToString(*attr), PrintToString(attr));
  EXPECT_EQ(PrintToString(static_cast<const TensorDistAttr*>(nullptr)), "absent");
  EXPECT_EQ(PrintToString(attr->placement(1)), "P(sum)");
  EXPECT_EQ(PrintToString(mesh()), "mesh(dp=2,tp=2)");
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(attr, TensorDistAttr::replicated(mesh())),
                          "[R,R] on mesh(dp=2,tp=2)");
}

TEST(Print, AttributesAreComparedByValue) {
  const TensorDistAttr copy = *TensorDistAttr::get(mesh(), {Shard(0)});
  EXPECT_EQ(copy, *TensorDistAttr::get(mesh(), {Shard(0)}));
  EXPECT_NE(copy, *TensorDistAttr::get(mesh(), {Shard(1)}));
  EXPECT_NE(copy, *TensorDistAttr::get(ProcessMesh({2, 2}), {Shard(0)}));
}

}  // namespace
}  // namespace phi::testing
