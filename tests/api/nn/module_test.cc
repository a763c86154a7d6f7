// Names, parameters, groups, passes and lent parameters of modules.
#include "api/nn/module.h"

#include <gtest/gtest.h>

#include "api/generated/ops/full.h"
#include "api/generated/ops/multiply.h"
#include "api/nn/layers/dropout.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layers/transformer_block.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi::nn {
namespace {

class Pair final : public Layer {
 public:
  Pair() : first(*this, "first", 2, 3), second(*this, "second", 3, 2, {.bias = false}) {
    scale = &parameter("scale", {2}, constant(2.0));
    buffer("mask", full({2}, 1.0));
  }
  Tensor forward(const Tensor& x) const override { return multiply(second(first(x)), *scale); }

  Linear first;
  Linear second;
  const Tensor* scale;
};

std::vector<std::string> names_of(const NamedTensors& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, value] : tensors) names.push_back(name);
  return names;
}

TEST(Module, NamesItsTensorsOwnOnesFirst) {
  const Pair pair;
  EXPECT_EQ(names_of(pair.named_parameters()),
            (std::vector<std::string>{"scale", "first.weight", "first.bias", "second.weight"}));
  EXPECT_EQ(names_of(pair.named_buffers()), (std::vector<std::string>{"mask"}));
  EXPECT_EQ(pair.num_parameters(), 2 + 6 + 3 + 6);
  EXPECT_EQ(pair.module_at("second").path(), "second");
  EXPECT_EQ(pair.modules().size(), 3u);
}

TEST(Module, AFlatNameIsInPathsAlone) {
  class Model final : public Module {
   public:
    Model() : block(*this, "layer0", {.attention = {.d_model = 8, .heads = 2, .fused = true}}) {}
    TransformerBlock block;
  };
  const Model model;
  EXPECT_EQ(model.module_at("layer0.attention.qkv").path(), "layer0.attention.qkv");
  EXPECT_EQ(model.parameter_at("layer0.qkv.weight").shape(), (Dims{8, 24}));
}

TEST(Module, EqualNamesAreErrors) {
  class TwoParts final : public Module {
   public:
    TwoParts() : a(*this, "up", 2, 2), b(*this, "up", 2, 2) {}
    Linear a, b;
  };
  EXPECT_THAT([] { TwoParts(); },
              ThrowsError(ErrorCode::kInvalidArgument, "module '' has two parts called 'up'"));
  class TwoFlat final : public Module {
   public:
    TwoFlat() : a(*this, Name::flat("a"), 2, 2), b(*this, Name::flat("b"), 2, 2) {}
    Linear a, b;
  };
  EXPECT_THAT([] { TwoFlat(); }, ThrowsError(ErrorCode::kInvalidArgument,
                                             "the model has two tensors called 'weight'"));
  class Dotted final : public Module {
   public:
    Dotted() : a(*this, "a.b", 2, 2) {}
    Linear a;
  };
  EXPECT_THAT([] { Dotted(); },
              ThrowsError(ErrorCode::kInvalidArgument, "a part of a module is called 'a.b'"));
}

TEST(Module, WhatIsNotThereIsAnErrorWithTheNearestName) {
  Pair pair;
  EXPECT_THAT([&] { pair.parameter_at("first.weigth"); },
              ThrowsError(ErrorCode::kNotFound, "did you mean 'first.weight'?"));
  EXPECT_THAT([&] { pair.module_at("secnd"); },
              ThrowsError(ErrorCode::kNotFound, "did you mean 'second'?"));
  EXPECT_THAT([&] { pair.set_group("*.bais", {}); },
              ThrowsError(ErrorCode::kNotFound, "no parameter is called '*.bais'"));
  EXPECT_THAT([&] { pair.set_group("scale", {.rate = -1.0}); },
              ThrowsError(ErrorCode::kInvalidArgument, "the rate of the parameters 'scale' is -1"));
}

TEST(Module, APartThatGoesIsForgotten) {
  class Model final : public Module {};
  Model model;
  {
    const Linear part(model, "part", 2, 2);
    EXPECT_EQ(model.modules().size(), 2u);
  }
  EXPECT_EQ(model.modules().size(), 1u);
}

TEST(Module, ValuesFollowSeedNameAndDtype) {
  Pair pair;
  const auto first = [&] { return pair.parameter_at("first.weight").to_vector<float>(); };
  const auto by_default = first();
  pair.initialise(7);
  EXPECT_NE(first(), by_default);
  pair.initialise(1);
  EXPECT_EQ(first(), by_default);
  pair.initialise(1, DataType::BFLOAT16);
  EXPECT_EQ(pair.parameter_at("scale").dtype(), DataType::BFLOAT16);
  EXPECT_THAT([&] { pair.initialise(1, DataType::INT64); },
              ThrowsError(ErrorCode::kInvalidArgument, "parameters of int64 have no gradients"));
  EXPECT_THAT([&] { pair.first.initialise(1); },
              ThrowsError(ErrorCode::kInvalidArgument, "'first' is a part of a model"));
}

TEST(Module, ParametersHaveNoBytesUntilTheyAreUsed) {
  const int64_t before = memory_stats(CPUPlace()).current;
  Pair pair;
  EXPECT_EQ(memory_stats(CPUPlace()).current - before, 8);  // the buffer that it was given
  pair(full({1, 2}, 1.0));
  EXPECT_GT(memory_stats(CPUPlace()).current - before, 8);
}

TEST(Module, GroupsAreOfThoseThatMatch) {
  Pair pair;
  pair.set_group("first.*", {.rate = 0.5});
  pair.set_group("*.bias", {.decays = true, .trained = false});
  const auto groups = pair.groups();
  EXPECT_EQ(groups[0], ParameterGroup{});
  EXPECT_EQ(groups[1], (ParameterGroup{.rate = 0.5}));
  EXPECT_EQ(groups[2], (ParameterGroup{.decays = true, .trained = false}));
  EXPECT_EQ(groups[3], ParameterGroup{});
}

TEST(Module, FillTakesTensorsOfTheSameMeta) {
  Pair pair;
  pair.fill([](const std::string&, const Tensor& now) { return full(now.shape(), 3.0); });
  EXPECT_EQ(pair.parameter_at("second.weight").to_vector<float>(), std::vector<float>(6, 3.0f));
  EXPECT_EQ(pair.named_buffers()[0].second.to_vector<float>(), std::vector<float>(2, 3.0f));
  EXPECT_THAT([&] { pair.fill([](const std::string&, const Tensor&) { return full({7}, 0.0); }); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "'scale' of the model is f32[2], but the value for it f32[7]"));
}

TEST(PassScope, IsOfTheWholeModelAndEnds) {
  Pair pair;
  {
    const PassScope outer(pair, {.number = 3});
    EXPECT_EQ(pair.first.pass().number, 3u);
    {
      const PassScope inner(pair.second, {.number = 4});
      EXPECT_EQ(pair.pass().number, 4u);
    }
    EXPECT_EQ(pair.pass().number, 3u);
  }
  EXPECT_EQ(pair.pass().number, 0u);
}

TEST(ParameterScope, LendsOtherTensors) {
  const Pair pair;
  const Tensor x = full({1, 2}, 1.0);
  const auto own = pair(x).to_vector<float>();
  {
    TensorList zeros;
    for (const Tensor& p : pair.parameters()) zeros.push_back(full(p.shape(), 0.0));
    const ParameterScope lent(pair, zeros);
    EXPECT_EQ(pair(x).to_vector<float>(), std::vector<float>(2, 0.0f));
  }
  EXPECT_EQ(pair(x).to_vector<float>(), own);
  EXPECT_THAT([&] { ParameterScope(pair, {x}); },
              ThrowsError(ErrorCode::kInvalidArgument, "has 4 parameters, and is lent 1"));
}

}  // namespace
}  // namespace phi::nn
