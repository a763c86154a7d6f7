// Which partial inputs pass an operator beside those that its rule passes, and which wait.
#include "api/rules/partial_propagation.h"

#include <gtest/gtest.h>

#include "api/rules/op_rule.h"

namespace phi {
namespace {

using distributed::Partial;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::ReduceKind;
using distributed::Replicate;
using distributed::Shard;
using distributed::TensorDistAttr;

using Placements = std::vector<Placement>;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

const auto R = Replicate();
const auto kSum = Partial(ReduceKind::kSum);
const auto kAvg = Partial(ReduceKind::kAvg);
const auto kMax = Partial(ReduceKind::kMax);
const auto kMin = Partial(ReduceKind::kMin);
const auto kAny = Partial(ReduceKind::kAny);
const auto kAll = Partial(ReduceKind::kAll);

struct Input {
  Dims dims;
  Placements placements;
  DataType dtype = DataType::FLOAT32;
};

// "x0 x1 -> out0": how each lies then.
std::string inference(const char* op, const std::vector<std::vector<Input>>& inputs,
                      const Attributes& attributes = {}) {
  const OpRule& rule = rules::find(op);
  const ProcessMesh mesh(inputs[0][0].placements.size() == 1 ? std::vector<int64_t>{2}
                                                             : std::vector<int64_t>{2, 4});
  std::vector<std::vector<OpTensor>> tensors;
  for (const auto& argument : inputs) {
    auto& list = tensors.emplace_back();
    for (const Input& x : argument) {
      list.push_back(x.placements.empty()
                         ? OpTensor{}
                         : OpTensor{{x.dims, x.dtype}, TensorDistAttr::get(mesh, x.placements)});
    }
  }
  const OpInference found = rule.infer({mesh, tensors, rule.attributes(attributes)});
  std::string text;
  const auto add = [&](const TensorDistAttr* attr) {
    if (attr == nullptr) {
      text += "- ";
      return;
    }
    for (const Placement& p : attr->placements()) text += p.to_string();
    text += " ";
  };
  for (const auto* attr : found.inputs) add(attr);
  text += "->";
  for (const auto& output : found.outputs) {
    text += " ";
    add(output.attr);
    text.pop_back();
  }
  return text;
}

// Of one tensor f32[4,6].
std::string unary(const char* op, const Placement& placement, const Attributes& attributes = {},
                  DataType dtype = DataType::FLOAT32) {
  return inference(op, {{{{4, 6}, {placement}, dtype}}}, attributes);
}
std::string binary(const char* op, const Placement& x, const Placement& y,
                   DataType dtype = DataType::FLOAT32) {
  return inference(op, {{{{4, 6}, {x}, dtype}}, {{{4, 6}, {y}, dtype}}});
}

TEST(PartialPropagation, SumsNeedOnePartialFactorInEachTerm) {
  EXPECT_EQ(binary("add", kSum, kSum), "P(sum) P(sum) -> P(sum)");
  EXPECT_EQ(binary("subtract", kSum, kSum), "P(sum) P(sum) -> P(sum)");
  EXPECT_EQ(binary("add", kSum, R), "R R -> R");
  EXPECT_EQ(binary("swiglu", R, kSum), "R P(sum) -> P(sum)");
  EXPECT_EQ(binary("swiglu", kSum, kSum), "R P(sum) -> P(sum)") << "no law names x";
  EXPECT_EQ(unary("sum", kSum), "P(sum) -> P(sum)");
  EXPECT_EQ(unary("exp", kSum), "R -> R");
}

TEST(PartialPropagation, AveragesTakeConstantsAndWholeTerms) {
  EXPECT_EQ(binary("add", kAvg, R), "P(avg) R -> P(avg)");
  EXPECT_EQ(binary("add", kAvg, kAvg), "P(avg) P(avg) -> P(avg)");
  EXPECT_EQ(binary("add", kAvg, kSum), "P(avg) R -> P(avg)");
  const Attributes moved = {{"bias", 2.0}};
  EXPECT_EQ(unary("scale", kAvg, moved), "P(avg) -> P(avg)");
  EXPECT_EQ(unary("scale", kSum, moved), "R -> R");
  EXPECT_EQ(unary("scale", kSum), "P(sum) -> P(sum)") << "the bias is 0";
}

TEST(PartialPropagation, ProductsKeepOneFactorTheLarger) {
  const auto matmul = [](const Dims& x, const Placement& p, const Dims& y, const Placement& q) {
    return inference("matmul", {{{x, {p}}}, {{y, {q}}}});
  };
  EXPECT_EQ(matmul({4, 6}, kSum, {6, 5}, R), "P(sum) R -> P(sum)");
  EXPECT_EQ(matmul({4, 6}, kSum, {6, 3}, kSum), "P(sum) R -> P(sum)");
  EXPECT_EQ(matmul({2, 6}, kSum, {6, 3}, kSum), "R P(sum) -> P(sum)");
  EXPECT_EQ(inference("einsum", {{{{4, 6}, {kSum}}, {{6, 3}, {R}}}}, {{"equation", "ab,bc->ac"}}),
            "P(sum) R -> P(sum)");
}

TEST(PartialPropagation, WhatGrowsIsReducedFirst) {
  EXPECT_EQ(inference("matmul", {{{{4, 6}, {kSum}}}, {{{6, 7}, {R}}}}), "R R -> R");
  EXPECT_EQ(inference("expand_as", {{{{1, 6}, {kSum}}}, {{{4, 6}, {R}}}},
                      {{"target_shape", std::vector<int64_t>{4, 6}}}),
            "R R -> R");
  // Two outputs of the size of the one input.
  EXPECT_EQ(inference("minimum_grad", {{{{4}, {R}}}, {{{4}, {R}}}, {{{4}, {kSum}}}}),
            "R R R -> R R");
}

TEST(PartialPropagation, EachOutputHasItsOwn) {
  const auto grad = [](const Placement& x, const Placement& y, const Placement& out_grad) {
    return inference("matmul_grad", {{{{8, 6}, {x}}}, {{{6, 2}, {y}}}, {{{8, 2}, {out_grad}}}},
                     {{"transpose_x", false}, {"transpose_y", false}});
  };
  EXPECT_EQ(grad(kSum, R, R), "P(sum) R R -> R P(sum)");
  EXPECT_EQ(grad(R, R, kSum), "R R R -> R R") << "the gradient of x is larger";
  EXPECT_EQ(grad(kSum, kSum, R), "P(sum) P(sum) R -> P(sum) P(sum)") << "each has one of them";
}

TEST(PartialPropagation, OrderPassesWhatGrowsOrFallsWithOneInput) {
  EXPECT_EQ(unary("relu", kMax), "P(max) -> P(max)");
  EXPECT_EQ(unary("tanh", kMin), "P(min) -> P(min)");
  EXPECT_EQ(unary("relu", kSum), "R -> R");
  EXPECT_EQ(unary("sqrt", kMax), "R -> R") << "parts may lie outside of what it takes";
  EXPECT_EQ(unary("bitwise_not", kMax, {}, DataType::INT32), "P(max) -> P(min)");
  EXPECT_EQ(unary("logical_not", kAny, {}, DataType::BOOL), "P(any) -> P(all)");
  EXPECT_EQ(unary("logical_not", kMax), "R -> R") << "of numbers it does not fall";
  EXPECT_EQ(binary("maximum", kMax, kMax), "P(max) P(max) -> P(max)");
  EXPECT_EQ(binary("maximum", kMin, R), "P(min) R -> P(min)");
  EXPECT_EQ(binary("maximum", kMin, kMin), "P(min) R -> P(min)");
  EXPECT_EQ(binary("logical_and", kAll, kAll, DataType::BOOL), "P(all) P(all) -> P(all)");
  EXPECT_EQ(binary("logical_and", kAny, kAny, DataType::BOOL), "P(any) R -> P(any)");
  EXPECT_EQ(unary("max", kMax), "P(max) -> P(max)");
  EXPECT_EQ(unary("max", kMin), "R -> R");
}

TEST(PartialPropagation, CopiesPassAnyOrder) {
  const auto concat = [](const Placement& x, const Placement& y) {
    return inference("concat", {{{{4}, {x}}, {{4}, {y}}}});
  };
  EXPECT_EQ(concat(kMax, kMax), "P(max) P(max) -> P(max)");
  EXPECT_EQ(unary("triu", kMin), "P(min) -> P(min)");
  EXPECT_EQ(unary("fill_diagonal", kSum, {{"value", 0.0}}), "P(sum) -> P(sum)");
  EXPECT_EQ(unary("fill_diagonal", kSum, {{"value", 1.0}}), "R -> R");
  EXPECT_EQ(unary("fill_diagonal", kMax, {{"value", 1.0}}), "P(max) -> P(max)");
  EXPECT_EQ(inference("broadcast_tensors", {{{{4, 6}, {kMax}}, {{1, 6}, {R}}}}),
            "P(max) R -> P(max) R");
  EXPECT_EQ(inference("broadcast_tensors", {{{{4, 6}, {R}}, {{1, 6}, {kMax}}}}), "R R -> R R");
}

TEST(PartialPropagation, CastsOfSumsWaitAndThoseInOrderPass) {
  const auto cast = [](const Placement& p, DataType from, DataType to) {
    return unary("cast", p, {{"dtype", to}}, from);
  };
  EXPECT_EQ(cast(kSum, DataType::FLOAT32, DataType::BFLOAT16), "R -> R");
  EXPECT_EQ(cast(kSum, DataType::FLOAT32, DataType::INT32), "R -> R");
  EXPECT_EQ(cast(kSum, DataType::FLOAT32, DataType::FLOAT32), "P(sum) -> P(sum)");
  EXPECT_EQ(cast(kMax, DataType::FLOAT32, DataType::BFLOAT16), "P(max) -> P(max)");
  EXPECT_EQ(cast(kMax, DataType::BFLOAT16, DataType::FLOAT32), "R -> R") << "it grows";
  EXPECT_EQ(cast(kMax, DataType::INT64, DataType::INT32), "R -> R") << "it may wrap round";
  EXPECT_EQ(cast(kMax, DataType::FLOAT32, DataType::BOOL), "R -> R");
}

TEST(PartialPropagation, NothingIsSplitOverTheMeshDimOfWhatPasses) {
  EXPECT_EQ(inference("matmul", {{{{4, 6}, {kSum}}}, {{{6, 4}, {Shard(1)}}}}), "R S1 -> S1");
  EXPECT_EQ(inference("matmul", {{{{4, 6}, {kSum, R}}}, {{{6, 4}, {R, Shard(1)}}}}),
            "P(sum)R RS1 -> P(sum)S1");
  EXPECT_EQ(inference("matmul", {{{{4, 8}, {kSum, Shard(1)}}}, {{{8, 4}, {R, Shard(0)}}}}),
            "P(sum)S1 RS0 -> P(sum)P(sum)");
}

TEST(PartialPropagation, KindsThatDoNotCommuteWait) {
  EXPECT_EQ(inference("scale", {{{{4, 6}, {kSum, kAvg}}}}), "P(sum)P(avg) -> P(sum)P(avg)");
  EXPECT_EQ(inference("scale", {{{{4, 6}, {kSum, kMax}}}}), "RR -> RR");
  EXPECT_EQ(inference("add", {{{{4, 6}, {kAvg, R}}}, {{{4, 6}, {R, kAvg}}}}),
            "P(avg)R RP(avg) -> P(avg)P(avg)");
}

TEST(PartialPropagation, AnAbsentSummandIsNone) {
  const auto bilinear = [](const Input& bias) {
    return inference("bilinear", {{{{8, 3}, {kSum}}}, {{{8, 3}, {R}}}, {{{2, 3, 3}, {R}}}, {bias}});
  };
  EXPECT_EQ(bilinear({{}, {}}), "P(sum) R R - -> P(sum)");
  EXPECT_EQ(bilinear({{1, 2}, {R}}), "R R R R -> R");
}

TEST(PartialPropagation, WhatRulesPassByThemselvesStays) {
  EXPECT_EQ(unary("transpose", kMax, {{"perm", std::vector<int64_t>{1, 0}}}), "P(max) -> P(max)");
  const OpRule& matmul = rules::find("matmul");
  const ProcessMesh mesh({2});
  const auto* partial = TensorDistAttr::get(mesh, {kSum});
  const OpTensor x{{{4, 6}, DataType::FLOAT32}, partial};
  const OpTensor y{{{6, 4}, DataType::FLOAT32}, TensorDistAttr::replicated(mesh)};
  const OpCallSpec call_spec{mesh, {{x}, {y}}, matmul.attributes({})};
  EXPECT_EQ(matmul.infer_by_rule(call_spec).inputs[0], y.attr);
  EXPECT_EQ(matmul.partial(), "x * y");
}

}  // namespace
}  // namespace phi
