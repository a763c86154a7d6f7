// The Tensor handle, deferred tensors, and the distributed API's own errors, in one process.
#include "api/tensor/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/call/args/attrs.h"
#include "api/call/call.h"
#include "api/call/decision.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/divide.h"
#include "api/generated/ops/exp.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/one_hot.h"
#include "api/generated/ops/pow.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/softmax.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/subtract.h"
#include "api/generated/ops/sum.h"
#include "api/generated/ops/tril.h"
#include "distributed/api.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::Partial;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::shard_tensor;

const ProcessMesh& one() {
  static const ProcessMesh mesh({1}, {"x"});
  return mesh;
}

TEST(Tensor, UndefinedSaysSo) {
  const Tensor x;
  EXPECT_FALSE(x.defined());
  EXPECT_FALSE(x.initialized());
  EXPECT_THAT([&] { (void)x.shape(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "undefined tensor"));
  EXPECT_THAT([&] { relu(x); }, ThrowsError(ErrorCode::kPreconditionNotMet, "[relu]"));
}

TEST(Tensor, PlainIsNotDistributed) {
  const Tensor x = full({2, 3}, 4.0f);
  EXPECT_EQ(x.nbytes_here(), 24u);
  EXPECT_THAT([&] { (void)x.mesh(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "f32[2,3] is plain; use shard_tensor"));
  EXPECT_THAT([&] { (void)x.item(); },
              ThrowsError(ErrorCode::kInvalidArgument, "item() needs one element"));
  EXPECT_EQ(full({}, 4.0f).item(), 4.0);
}

TEST(Tensor, TheOnlyRankHasTheItem) {
  for (const auto& placement : {distributed::Placement(Shard(0)), distributed::Placement(Partial()),
                                distributed::Placement(Replicate())}) {
    const Tensor x = shard_tensor(full({1}, 4.0f), one(), {Replicate()});
    EXPECT_EQ(reshard(x, one(), {placement}).item(), 4.0);
  }
}

TEST(Tensor, AMeshOfOneIsDistributedAllTheSame) {
  const Tensor x = shard_tensor(full({2, 3}, 4.0f), one(), {Shard(1)});
  EXPECT_TRUE(x.is_dist());
  EXPECT_EQ(x.to_string(), "f32[2,3] [S1] on mesh(x=1)");
  EXPECT_EQ(x.local().shape(), (Dims{2, 3}));
  EXPECT_EQ(sum(x).shape(), Dims{});
}

TEST(Tensor, PlacementsThatDoNotFitAreErrors) {
  const Tensor x = full({2, 3}, 4.0f);
  EXPECT_THAT([&] { shard_tensor(x, one(), {Shard(2)}); },
              ThrowsError(ErrorCode::kInvalidArgument, "[shard_tensor]"));
  EXPECT_THAT(
      [&] {
        shard_tensor(x, one(), {Shard(0), Shard(1)});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "2 placements are given for mesh(x=1)"));
  EXPECT_THAT(
      [&] { distributed::reshard(x, one(), {Replicate()}); },
      ThrowsError(ErrorCode::kPreconditionNotMet, "[reshard] a distributed tensor is needed"));
}

TEST(Tensor, WrongShapesNameOpAndShapes) {
  const Tensor x = full({2, 3}, 1.0f), y = full({4, 5}, 1.0f);
  EXPECT_THAT([&] { matmul(x, y); }, ThrowsError(ErrorCode::kInvalidArgument, "[matmul]"));
  EXPECT_THAT([&] { add(x, y); }, ThrowsError(ErrorCode::kInvalidArgument, "[2,3]"));
  EXPECT_THAT([&] { add(x, cast(x, DataType::INT32)); },
              ThrowsError(ErrorCode::kInvalidArgument, "[add]"));
}

TEST(Tensor, KernelsThatAreNotThereAreNamed) {
  const Tensor x = full({2}, true, DataType::BOOL);
  EXPECT_THAT([&] { exp(x); }, ThrowsError(ErrorCode::kUnimplemented,
                                           "kernel 'exp' is not registered for bool on cpu"));
}

TEST(Tensor, InplaceNeedsTheSameShape) {
  Tensor x = full({3}, 1.0f);
  EXPECT_THAT(
      [&] {
        add_(x, full({2, 3}, 1.0f));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "use the op without `_`"));
  const Tensor same = x;
  add_(x, full({3}, 2.0f));
  EXPECT_EQ(same.values<float>()[2], 3.0f);
}

TEST(Tensor, InplaceEqualsOutOfPlace) {
  using Out = Tensor (*)(const Tensor&);
  using In = Tensor& (*)(Tensor&);
  const std::pair<Out, In> pairs[] = {
      {[](const Tensor& x) { return exp(x); }, [](Tensor& x) -> Tensor& { return exp_(x); }},
      {[](const Tensor& x) { return square(x); }, [](Tensor& x) -> Tensor& { return square_(x); }},
      {[](const Tensor& x) { return softmax(x); },
       [](Tensor& x) -> Tensor& { return softmax_(x); }},
      {[](const Tensor& x) { return softmax(x, 0); },
       [](Tensor& x) -> Tensor& { return softmax_(x, 0); }},
      {[](const Tensor& x) { return tril(x); }, [](Tensor& x) -> Tensor& { return tril_(x); }},
      {[](const Tensor& x) { return scale(x, 2.0f, 1.0f); },
       [](Tensor& x) -> Tensor& { return scale_(x, 2.0f, 1.0f); }},
      {[](const Tensor& x) { return pow(x, 3.0f); },
       [](Tensor& x) -> Tensor& { return pow_(x, 3.0f); }},
      {[](const Tensor& x) { return add(x, x); }, [](Tensor& x) -> Tensor& { return add_(x, x); }},
      {[](const Tensor& x) { return divide(x, full({5}, 3.0f)); },
       [](Tensor& x) -> Tensor& { return divide_(x, full({5}, 3.0f)); }},
  };
  for (const auto& [out_of_place, inplace] : pairs) {
    const Tensor expected = out_of_place(gaussian({7, 5}, 0.0f, 1.0f, 3));
    Tensor x = gaussian({7, 5}, 0.0f, 1.0f, 3);
    const float* bytes = x.values<float>().data();
    EXPECT_TRUE(same_tensor(inplace(x), x));
    EXPECT_EQ(x.values<float>().data(), bytes);
    EXPECT_THAT(x.values<float>(), ::testing::ElementsAreArray(expected.values<float>()));
  }
}

TEST(Deferred, HasNoBytesUntilUsed) {
  const auto held = memory_stats(CPUPlace()).current;
  const Tensor w = deferred_gaussian({16, 16}, 0.0f, 1.0f, 3);
  EXPECT_FALSE(w.initialized());
  EXPECT_EQ(memory_stats(CPUPlace()).current, held);
  const Tensor want = gaussian({16, 16}, 0.0f, 1.0f, 3);
  EXPECT_THAT(w.values<float>(), ::testing::ElementsAreArray(want.values<float>()));
  EXPECT_TRUE(w.initialized());
}

TEST(Deferred, GivesTheSameValueHoweverOftenItIsSharded) {
  const Tensor w = deferred_full({4, 4}, 2.0f, DataType::FLOAT64);
  const Tensor a = shard_tensor(w, one(), {Shard(0)}), b = shard_tensor(w, one(), {Shard(1)});
  EXPECT_EQ(sum(a).values<double>()[0], 32.0);
  EXPECT_EQ(sum(b).values<double>()[0], 32.0);
  EXPECT_FALSE(w.initialized());
}

TEST(Deferred, PartialKeepsTheValueOnce) {
  const Tensor w = shard_tensor(deferred_full({4}, 2.0f), one(), {Partial()});
  EXPECT_EQ(sum(w).values<float>()[0], 8.0f);
}

template <typename... Values>
std::string key_of(const Values&... values) {
  CallKey key;
  (append_attr(key, values), ...);
  return std::string(key.view());
}

TEST(CallKey, DistinguishesAttributes) {
  EXPECT_EQ(key_of(1, true), key_of(1, true));
  EXPECT_NE(key_of(1, true), key_of(1, false));
  EXPECT_NE(key_of(Scalar(1.0)), key_of(Scalar(1)));
  EXPECT_NE(key_of(IntArray{1, 2}), key_of(IntArray{1, 2, 3}));
  EXPECT_NE(key_of(std::string("ab")), key_of(std::string("a")));
  EXPECT_NE(key_of(GradMask({0})), key_of(GradMask({1})));
  const std::vector<int> longer(200, 7);
  EXPECT_EQ(key_of(longer), key_of(longer));
  EXPECT_EQ(key_of(longer).size(), sizeof(size_t) + 800);
}

TEST(Attrs, KeysByWhatDecidesAndShowsTheOpsOwn) {
  constexpr AttributeDef kAttributes[] = {{"axis", AttributeKind::kInt, true},
                                          {"value", AttributeKind::kNumber, false},
                                          {"place", AttributeKind::kPlace, false}};
  const OpDef& add = ops::add;
  const OpDef op{add.name,  add.rule,      add.inputs, add.outputs, kAttributes,
                 add.taken, add.meta_only, add.kernel, add.flops};
  const int64_t axis = 2, other_axis = 3;
  const Scalar value = 0.5, other_value = 7;
  const Place place = CPUPlace();
  const GradMask wanted, fewer({1});
  const auto key = [&](const auto& attributes) {
    CallKey key;
    attributes.append_to(key, op);
    return std::string(key.view());
  };
  const std::string first = key(attrs(axis, value, place, wanted));
  EXPECT_EQ(first, key(attrs(axis, other_value, place, wanted)));
  EXPECT_NE(first, key(attrs(other_axis, value, place, wanted)));
  EXPECT_NE(first, key(attrs(axis, value, place, fewer)));
  const std::vector<AttributeValue> shown = attrs(axis, value, place, wanted).list().take();
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[0], AttributeValue(int64_t{2}));
  EXPECT_EQ(shown[1], AttributeValue(0.5));
}

TEST(DecisionCache, FindsWhatItWasGiven) {
  const Tensor x = shard_tensor(full({2, 3}, 0, DataType::INT64), one(), {Shard(0)});
  DecisionCache& cache = DecisionCache::current();
  cache.clear();
  for (int i = 1; i <= 300; ++i) one_hot(x, i);
  EXPECT_EQ(cache.size(), 300u);
  for (int i = 1; i <= 300; ++i) one_hot(x, i);
  EXPECT_EQ(cache.size(), 300u);
}

OpDef with_rule(const OpDef& op, const RuleFunctions& rule) {
  return {op.name,  rule,         op.inputs, op.outputs, op.attributes,
          op.taken, op.meta_only, op.kernel, op.flops};
}

// As ops of several libraries may be that have one name and one place in their lists.
TEST(DecisionCache, DecisionsBelongToOnesOwnOpDef) {
  const OpDef& relu = ops::relu;
  static const RuleFunctions whole{"", nullptr, relu.rule.infer_meta};
  static const OpDef other = with_rule(relu, whole);
  const Tensor x = shard_tensor(full({2, 3}, 1.0f), one(), {Shard(0)});
  const auto placed = [&](const OpDef& op) {
    const Call call(op, attrs(), x);
    const DistArgs args = call.on_one_mesh();
    return call.decide(args, x.dtype()).output(0).attr;
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(placed(relu), x.dist_attr());
    EXPECT_EQ(placed(other), distributed::TensorDistAttr::replicated(one()));
  }
}

TEST(DecisionCache, GradientsThatNobodyWantsAreNoOutputs) {
  const Tensor x = shard_tensor(full({2, 3}, 1.0f), one(), {Shard(0)});
  const Tensor y = full({3, 4}, 1.0f), out_grad = full({2, 4}, 1.0f);
  for (const int wanted : {0, 1, 0}) {
    const auto [x_grad, y_grad] = matmul_grad(x, y, out_grad, false, false, GradMask({wanted}));
    EXPECT_EQ(x_grad.defined(), wanted == 0);
    EXPECT_EQ(y_grad.defined(), wanted == 1);
  }
}

TEST(DecisionCache, ARuleThatAnswersForOtherTensorsIsRefused) {
  const OpDef& relu = ops::relu;
  const auto nothing = [](const RuleArgs&) -> distributed::SpmdRule {
    return distributed::Factors();
  };
  static const RuleFunctions wrong{"NoSuchRule", nothing, relu.rule.infer_meta};
  static const OpDef other = with_rule(relu, wrong);
  const Tensor x = shard_tensor(full({2, 3}, 1.0f), one(), {Shard(0)});
  const Call call(other, attrs(), x);
  const DistArgs args = call.on_one_mesh();
  EXPECT_THAT([&] { call.decide(args, x.dtype()); },
              ThrowsError(ErrorCode::kInternal,
                          "rule NoSuchRule infers 0 inputs and 0 outputs; the call has 1 and "
                          "1.\n  called with x f32[2,3] [S0]"));
}

// The rule of a gradient may speak of some of its tensors, in an order of its own; it is asked for
// where these lie, and others come whole.
TEST(DecisionCache, ARuleMayBeShownSomeTensorsInItsOwnOrder) {
  const OpDef& subtract = ops::subtract;
  const auto as_second = [](const RuleArgs& args) -> distributed::SpmdRule {
    return distributed::Factors().input(args.spec(1), "mn").input(args.spec(0), "m1").output("mn");
  };
  static const int both[] = {1, 0};
  static const RuleFunctions swapped{"Swapped", as_second, subtract.rule.infer_meta, nullptr, both};
  static const OpDef op = with_rule(subtract, swapped);
  const Tensor x = shard_tensor(full({2, 4}, 1.0f), one(), {Shard(1)});
  const Tensor y = shard_tensor(full({2, 4}, 1.0f), one(), {Shard(0)});
  const Call call(op, attrs(), x, y);
  const DistArgs args = call.on_one_mesh();
  const Decision& decision = call.decide(args, x.dtype());
  EXPECT_EQ(decision.input(0).attr, distributed::TensorDistAttr::get(one(), {Shard(0)}));
  EXPECT_EQ(decision.input(1).attr, distributed::TensorDistAttr::get(one(), {Shard(0)}));
}

TEST(Ops, RegistryKnowsThemAll) {
  EXPECT_GT(ops::all().size(), 50u);
  EXPECT_STREQ(ops::find("matmul").rule.name, "MatmulInferSpmd");
  EXPECT_THAT([] { ops::find("matmull"); }, ThrowsError(ErrorCode::kNotFound, "matmul"));
  for (const OpDef* op : ops::all()) {
    EXPECT_TRUE(op->kernel.is_registered()) << op->name << " has no kernel";
  }
}

}  // namespace
}  // namespace phi
