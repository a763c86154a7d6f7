// Rules and shape functions asked by name: what generated code makes of the YAML entries.
#include "api/rules/op_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::Partial;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::TensorDistAttr;

const ProcessMesh& mesh() {
  static const ProcessMesh mesh({2, 4}, {"dp", "tp"});
  return mesh;
}

const TensorDistAttr* attr(std::initializer_list<distributed::Placement> placements) {
  return TensorDistAttr::get(mesh(), placements);
}

// Not inlined: g++ 12 takes the unused entries of Dims for uninitialised reads.
[[gnu::noinline]] OpTensor tensor(const Dims& dims,
                                  std::initializer_list<distributed::Placement> placements,
                                  DataType dtype = DataType::UNDEFINED) {
  return {{dims, dtype}, attr(placements)};
}

const auto R = Replicate();

OpCallSpec call_spec(const OpRule& rule, std::vector<std::vector<OpTensor>> inputs,
                     const std::vector<std::pair<std::string, AttributeValue>>& attributes = {}) {
  return {mesh(), std::move(inputs), rule.attributes(attributes)};
}

TEST(OpRule, AnswersPlacementsAndMetas) {
  const OpRule& matmul = rules::find("matmul");
  const auto x = tensor({6, 8}, {R, Shard(1)});
  const auto y = tensor({6, 4}, {R, R});
  const OpInference a =
      matmul.infer({mesh(), {{x}, {y}}, matmul.attributes({{"transpose_x", true}})});
  EXPECT_EQ(a.inputs, (std::vector{x.attr, y.attr}));
  ASSERT_EQ(a.outputs.size(), 1u);
  EXPECT_EQ(a.outputs[0].attr, attr({R, Shard(0)}));
  EXPECT_EQ(a.outputs[0].meta->to_string(), "f32[8,4]");
}

TEST(OpRule, AttributesNotGivenTakeTheDefaultsOfTheYaml) {
  const OpRule& softmax = rules::find("softmax");
  const auto x = tensor({6, 8}, {Shard(0), Shard(1)});
  EXPECT_EQ(softmax.infer(call_spec(softmax, {{x}})).outputs[0].attr, attr({Shard(0), R}));
  EXPECT_EQ(softmax.infer(call_spec(softmax, {{x}}, {{"axis", int64_t{0}}})).outputs[0].attr,
            attr({R, Shard(1)}));
  const OpRule& argmax = rules::find("argmax");
  EXPECT_THAT([&] { argmax.attributes({}); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "the attribute 'axis' of argmax has no default; pass it"));
  EXPECT_THAT([&] { softmax.attribute("axes"); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "softmax has no attribute 'axes', did you mean 'axis'?"));
  EXPECT_THAT([&] { rules::find("relu").attribute("axis"); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "relu has no attribute 'axis'; it has no attributes"));
}

TEST(OpRule, TheShapeFunctionIsAskedFirst) {
  const OpRule& matmul = rules::find("matmul");
  EXPECT_THAT(
      [&] {
        matmul.infer(call_spec(matmul, {{tensor({4, 4}, {R, R})}, {tensor({5, 4}, {R, R})}}));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "x is f32[4,4] and y is f32[5,4]"));
}

TEST(OpRule, TheRuleAloneNamesTheArguments) {
  const OpRule& matmul = rules::find("matmul");
  const OpCallSpec q = call_spec(matmul, {{tensor({4, 4}, {R, R})}, {tensor({5, 4}, {R, R})}});
  EXPECT_THAT(
      [&] { matmul.infer_spmd(matmul.args(q)); },
      ThrowsError(ErrorCode::kInvalidArgument, "factor k is 4 in x [4,4] and 5 in y [5,4]"));
}

TEST(OpRule, WithoutARuleAllIsReplicated) {
  const OpRule& select = rules::find("masked_select");
  EXPECT_EQ(select.rule(), "");
  const OpInference a =
      select.infer(call_spec(select, {{tensor({8}, {Shard(0), R})}, {tensor({8}, {R, Shard(0)})}}));
  for (const auto* in : a.inputs) EXPECT_EQ(in, attr({R, R}));
  EXPECT_EQ(a.outputs[0].attr, attr({R, R}));
}

// The rule of the optimizers is not shown the learning rate.
TEST(OpRule, InputsThatTheRuleIsNotShownAreWhole) {
  const OpRule& sgd = rules::find("scaled_sgd_");
  const auto param = tensor({8}, {Shard(0), R});
  const auto rate = tensor({1}, {Partial(), R});
  const OpInference a =
      sgd.infer(call_spec(sgd, {{param}, {param}, {OpTensor()}, {rate}, {OpTensor()}}));
  EXPECT_EQ(a.inputs, (std::vector{param.attr, param.attr, (const TensorDistAttr*)nullptr,
                                   attr({R, R}), (const TensorDistAttr*)nullptr}));
  EXPECT_EQ(a.outputs[0].attr, param.attr);
  EXPECT_FALSE(a.outputs[1].meta.has_value());
  EXPECT_EQ(a.outputs[1].attr, nullptr);
}

TEST(OpRule, ListsAreFlatInTheAnswer) {
  const OpRule& split = rules::find("split");
  const auto x = tensor({8, 4}, {R, Shard(1)});
  const OpInference a =
      split.infer(call_spec(split, {{x}}, {{"sections", std::vector<int64_t>{3, 5}}}));
  ASSERT_EQ(a.outputs.size(), 2u);
  EXPECT_EQ(a.outputs[1].meta->dims, (Dims{5, 4}));
  EXPECT_EQ(a.outputs[1].attr, x.attr);
  const OpRule& concat = rules::find("concat");
  const OpInference joined = concat.infer(call_spec(concat, {{x, x, x}}));
  EXPECT_EQ(joined.inputs.size(), 3u);
  EXPECT_EQ(joined.outputs[0].meta->dims, (Dims{24, 4}));
}

TEST(OpRule, ADeclarationInTheEntryIsARule) {
  const OpRule& tril = rules::find("tril");
  EXPECT_EQ(tril.rule(), "... 1 1 -> ... 1 1");
  const OpInference a = tril.infer(call_spec(tril, {{tensor({4, 6, 6}, {Shard(0), Shard(2)})}}));
  EXPECT_EQ(a.outputs[0].attr, attr({Shard(0), R}));
}

TEST(OpRule, DtypesNotSaidAreThoseThatTheOperatorTakes) {
  const OpRule& embedding = rules::find("embedding");
  const auto ids = tensor({8, 6}, {R, R});
  const auto weight = tensor({100, 16}, {R, R});
  const OpCallSpec chosen = embedding.with_dtypes(call_spec(embedding, {{ids}, {weight}}));
  EXPECT_EQ(chosen.inputs[0][0].meta.dtype, DataType::INT64);
  EXPECT_EQ(chosen.inputs[1][0].meta.dtype, DataType::FLOAT32);
  // One that is said stays, and is what the others go with.
  const auto halves = tensor({100, 16}, {R, R}, DataType::BFLOAT16);
  const OpInference a = embedding.infer(call_spec(embedding, {{ids}, {halves}}));
  EXPECT_EQ(a.outputs[0].meta->dtype, DataType::BFLOAT16);
  const OpRule& where = rules::find("where");
  const OpCallSpec of_where = where.with_dtypes(call_spec(where, {{weight}, {weight}, {weight}}));
  EXPECT_EQ(of_where.inputs[0][0].meta.dtype, DataType::BOOL);
  EXPECT_EQ(of_where.inputs[1][0].meta.dtype, DataType::FLOAT32);
  // Where nothing will do the error is that of float32.
  EXPECT_THAT(
      [&] {
        embedding.infer(call_spec(embedding, {{ids}, {tensor({100}, {R, R})}}));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "f32[8,6]"));
}

TEST(OpRule, BackwardIsAskedWithTheOutputsThatTheCallMakes) {
  const OpRule& transpose = rules::find("transpose");
  const OpCallSpec q =
      call_spec(transpose, {{tensor({4, 6}, {R, R})}}, {{"perm", std::vector<int64_t>{1, 0}}});
  const OpTensor right[] = {tensor({6, 4}, {Shard(0), R})};
  EXPECT_EQ(transpose.infer_backward(q, right).inputs[0], attr({Shard(1), R}));
  const OpTensor wrong[] = {tensor({4, 6}, {Shard(0), R})};
  EXPECT_THAT([&] { transpose.infer_backward(q, wrong); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "output 0 is passed as [4,6], but transpose returns [6,4]"));
  EXPECT_THAT([&] { transpose.infer_backward(q, {}); },
              ThrowsError(ErrorCode::kInvalidArgument, "0 outputs are passed, transpose has 1"));
}

TEST(OpRule, ConflictsAreTold) {
  const OpRule& add = rules::find("add");
  distributed::Conflicts conflicts;
  add.infer(call_spec(add, {{tensor({8}, {Shard(0), R})}, {tensor({8}, {R, Shard(0)})}}),
            &conflicts);
  EXPECT_EQ(conflicts.size(), 1u);
}

TEST(OpRule, QuestionsThatDoNotFitAreErrors) {
  const OpRule& add = rules::find("add");
  const auto x = tensor({8}, {R, R});
  const ProcessMesh other({8});
  const OpTensor elsewhere{{{8}, DataType::FLOAT32}, TensorDistAttr::replicated(other)};
  const OpRule& softmax = rules::find("softmax");
  const std::pair<std::function<void()>, const char*> rows[] = {
      {[&] { add.infer(call_spec(add, {{x}})); }, "1 inputs are passed, add takes 2: x, y"},
      {[&] {
         add.infer(call_spec(add, {{x}, {x, x}}));
       },
       "y of add is one tensor, 2 are passed"},
      {[&] {
         add.infer(call_spec(add, {{x}, {OpTensor()}}));
       },
       "y of add is not optional"},
      {[&] {
         add.infer(call_spec(add, {{x}, {elsewhere}}));
       },
       "y of add is on another mesh"},
      {[&] {
         add.infer(call_spec(add, {{x}, {tensor({8}, {Shard(1), R})}}));
       },
       "Shard"},
      {[&] {
         softmax.infer({mesh(), {{x}}, {}});
       },
       "0 attributes are passed, softmax takes 1"},
      {[&] {
         softmax.infer({mesh(), {{x}}, {std::string("last")}});
       },
       "an attribute is 'last', expected an int"},
  };
  for (const auto& [call, words] : rows) {
    EXPECT_THAT(call, ThrowsError(ErrorCode::kInvalidArgument, words));
  }
  EXPECT_THAT([] { rules::find("matmull"); },
              ThrowsError(ErrorCode::kNotFound,
                          "there is no operator 'matmull'; the nearest are matmul, "));
}

TEST(OpRules, NamesAreSortedAndUnique) {
  const auto all = rules::all();
  for (size_t i = 1; i < all.size(); ++i) EXPECT_LT(all[i - 1].name(), all[i].name());
}

TEST(AttributeValue, ComesBackAsItWas) {
  EXPECT_EQ(attribute_from<int>(attribute_value(-3)), -3);
  EXPECT_EQ(attribute_from<float>(attribute_value(0.1f)), 0.1f);
  EXPECT_EQ(attribute_from<bool>(attribute_value(true)), true);
  EXPECT_EQ(attribute_from<std::string>(attribute_value(std::string("mode"))), "mode");
  EXPECT_EQ(attribute_from<DataType>(attribute_value(DataType::INT64)), DataType::INT64);
  EXPECT_EQ(attribute_from<IntArray>(attribute_value(IntArray{2, 3})), (IntArray{2, 3}));
  EXPECT_EQ(attribute_from<std::vector<int>>(attribute_value(std::vector<int>{1, 2})),
            (std::vector{1, 2}));
  EXPECT_EQ(attribute_from<std::vector<bool>>(attribute_value(std::vector<bool>{true, false})),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(attribute_from<std::vector<float>>(attribute_value(std::vector<float>{0.5f})),
            std::vector<float>{0.5f});
  for (const Scalar& value : {Scalar(2), Scalar(0.5), Scalar(true)}) {
    EXPECT_EQ(attribute_from<Scalar>(attribute_value(value)), value);
  }
  EXPECT_EQ(attribute_from<float>(AttributeValue(int64_t{2})), 2.0f);
  EXPECT_THAT(
      [] { attribute_from<IntArray>(AttributeValue(int64_t{2})); },
      ThrowsError(ErrorCode::kInvalidArgument, "an attribute is '2', expected a list of ints"));
}

TEST(AttributeValue, TextIsThatOfTheType) {
  EXPECT_EQ(to_text(attribute_value(1e-6f)), "1e-06");
  EXPECT_EQ(to_text(attribute_value(0.1)), "0.1");
  EXPECT_EQ(to_text(attribute_value(std::vector<int>{1, 2})), "1,2");
  EXPECT_EQ(to_text(attribute_value(DataType::BFLOAT16)), "bfloat16");
  EXPECT_EQ(to_text(attribute_value(CPUPlace())), "cpu");
}

}  // namespace
}  // namespace phi
