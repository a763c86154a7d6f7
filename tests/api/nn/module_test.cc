// Names, parameters, groups, passes and lent parameters of modules.
#include "api/nn/module.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "api/generated/ops/full.h"
#include "api/generated/ops/multiply.h"
#include "api/nn/layers/dropout.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layers/transformer_block.h"
#include "api/nn/layout/shard.h"
#include "api/tensor/deferred.h"
#include "distributed/api.h"
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
              ThrowsError(ErrorCode::kInvalidArgument, "module '' has two submodules named 'up'"));
  class TwoFlat final : public Module {
   public:
    TwoFlat() : a(*this, Name::flat("a"), 2, 2), b(*this, Name::flat("b"), 2, 2) {}
    Linear a, b;
  };
  EXPECT_THAT([] { TwoFlat(); },
              ThrowsError(ErrorCode::kInvalidArgument, "the model has two tensors named 'weight'"));
  class Dotted final : public Module {
   public:
    Dotted() : a(*this, "a.b", 2, 2) {}
    Linear a;
  };
  EXPECT_THAT([] { Dotted(); },
              ThrowsError(ErrorCode::kInvalidArgument, "a submodule is named 'a.b'"));
}

TEST(Module, WhatIsNotThereIsAnErrorWithTheNearestName) {
  Pair pair;
  EXPECT_THAT([&] { pair.parameter_at("first.weigth"); },
              ThrowsError(ErrorCode::kNotFound, "did you mean 'first.weight'?"));
  EXPECT_THAT([&] { pair.module_at("secnd"); },
              ThrowsError(ErrorCode::kNotFound, "did you mean 'second'?"));
  EXPECT_THAT([&] { pair.set_group("*.bais", {}); },
              ThrowsError(ErrorCode::kNotFound, "no parameter is named '*.bais'"));
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
              ThrowsError(ErrorCode::kInvalidArgument, "'first' is a submodule"));
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
                          "'scale' of the model is f32[2], but the value for it is f32[7]"));
}

// ---- models that become parts of others ----

class Holder final : public Module {};

class Table final : public Layer {  // of one tensor, which goes by the module's name
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) const override { return multiply(x, table); }
  const Tensor& table = parameter("", {2}, normal(1.0));
};

TEST(Module, AnAdoptedModelHasNamesAndValuesOfItsPlace) {
  Pair pair;
  pair.initialise(7, DataType::BFLOAT16);
  Holder model;
  model.add_module(pair, "pair");
  EXPECT_EQ(names_of(model.named_parameters()),
            (std::vector<std::string>{"pair.scale", "pair.first.weight", "pair.first.bias",
                                      "pair.second.weight"}));
  EXPECT_EQ(names_of(model.named_buffers()), (std::vector<std::string>{"pair.mask"}));
  EXPECT_EQ(pair.first.path(), "pair.first");
  EXPECT_EQ(pair.parent(), &model);
  EXPECT_EQ(pair.seed(), 1u);
  class Made final : public Module {
   public:
    Made() : inner(*this, "pair") {}
    class Inner final : public Module {
     public:
      Inner(Module& parent, const Name& name) : Module(parent, name), first(*this, "first", 2, 3) {}
      Linear first;
    } inner;
  };
  EXPECT_EQ(model.parameter_at("pair.first.weight").to_vector<float>(),
            Made().parameter_at("pair.first.weight").to_vector<float>());
}

TEST(Module, ValuesThatWereAskedForOrSetStayWhenItIsAdopted) {
  Holder model;
  Pair pair;
  const auto asked = pair.parameter_at("first.weight").to_vector<float>();
  multiply(pair.parameter_at("first.weight"), full({}, 1.0));  // it has its bytes now
  model.add_module(pair, "pair");
  EXPECT_EQ(model.parameter_at("pair.first.weight").to_vector<float>(), asked);
  Pair filled;
  filled.fill([](const std::string&, const Tensor& now) { return full(now.shape(), 3.0); });
  model.add_module(filled, Name::flat("filled"));
  EXPECT_EQ(model.parameter_at("second.weight").to_vector<float>(), std::vector<float>(6, 3.0f));
}

TEST(Module, AModelThatCannotBeAdoptedLeavesAllAsItWas) {
  Pair pair;
  Holder model;
  model.add_module(pair, "pair");
  Pair other;
  EXPECT_THAT(
      [&] { model.add_module(other, "pair"); },
      ThrowsError(ErrorCode::kInvalidArgument, "module '' has two submodules named 'pair'"));
  EXPECT_THAT([&] { model.add_module(other, "a.b"); },
              ThrowsError(ErrorCode::kInvalidArgument, "must not contain a dot"));
  EXPECT_THAT([&] { other.add_module(pair, "again"); },
              ThrowsError(ErrorCode::kInvalidArgument, "is already submodule 'pair' of a model"));
  EXPECT_THAT([&] { pair.first.add_module(model, "loop"); },
              ThrowsError(ErrorCode::kInvalidArgument, "cannot be a submodule of itself ('loop')"));
  EXPECT_THAT([&] { model.add_module(model, "loop"); },
              ThrowsError(ErrorCode::kInvalidArgument, "cannot be a submodule of itself ('loop')"));
  Pair flat;
  model.add_module(other, Name::flat("other"));
  EXPECT_THAT([&] { model.add_module(flat, Name::flat("flat")); },
              ThrowsError(ErrorCode::kInvalidArgument, "the model has two tensors named 'scale'"));
  EXPECT_EQ(flat.path(), "");
  EXPECT_EQ(names_of(flat.named_parameters())[1], "first.weight");
  EXPECT_EQ(model.submodules().size(), 2u);
}

TEST(Module, AReleasedPartIsAModelWithItsValues) {
  Holder model;
  Pair pair;
  model.add_module(pair, "pair");
  model.initialise(7, DataType::FLOAT64);
  const auto before = pair.parameter_at("pair.first.weight").to_vector<double>();
  model.set_training(false);
  model.remove_module(pair);
  EXPECT_EQ(pair.parameter_at("first.weight").to_vector<double>(), before);
  EXPECT_TRUE(model.parameters().empty());
  EXPECT_FALSE(pair.is_training());
  EXPECT_EQ(pair.dtype(), model.dtype());
  EXPECT_EQ(pair.seed(), model.seed());
  EXPECT_THAT([&] { model.remove_module(pair); },
              ThrowsError(ErrorCode::kInvalidArgument, "but is not its submodule"));
  Pair next;
  model.add_module(next, "pair");  // the names are free again
}

TEST(Module, PartsThatOutliveTheirModelAreModels) {
  auto model = std::make_unique<Holder>();
  Pair pair;
  model->add_module(pair, "pair");
  Table table(*model, "table");
  const auto before = table.table.to_vector<float>();
  EXPECT_EQ(names_of(table.named_parameters()), (std::vector<std::string>{"table"}));
  model.reset();
  EXPECT_EQ(pair.parent(), nullptr);
  EXPECT_EQ(names_of(pair.named_parameters())[1], "first.weight");
  EXPECT_EQ(names_of(table.named_parameters()), (std::vector<std::string>{"weight"}));
  EXPECT_EQ(table.table.to_vector<float>(), before);
  Holder other;
  other.add_module(table, "rows");
  EXPECT_EQ(names_of(other.named_parameters()), (std::vector<std::string>{"rows"}));
}

TEST(Module, DropoutsAreCountedAnewWhereTheyAreAdopted) {
  class Dropping final : public Module {
   public:
    Dropping() : dropout(*this, "dropout", 0.5) {}
    Dropout dropout;
  };
  class Two final : public Module {
   public:
    Two() : first(*this, "first", 0.5), second(*this, "second", 0.5) {}
    Dropout first, second;
  };
  Dropping first, second;
  Holder model;
  EXPECT_FALSE(model.drops_now());
  model.add_module(first, "first");
  model.add_module(second, "second");
  EXPECT_TRUE(model.drops_now());
  const Two same;
  const Tensor x = full({64}, 1.0);
  const auto of_one_pass = [&](const Module& whole, const Dropout& dropout) {
    const ForwardContextScope pass(whole, {.number = 0});
    return dropout(x).to_vector<float>();
  };
  EXPECT_EQ(of_one_pass(model, first.dropout), of_one_pass(same, same.first));
  EXPECT_EQ(of_one_pass(model, second.dropout), of_one_pass(same, same.second));
  EXPECT_NE(of_one_pass(model, second.dropout), of_one_pass(same, same.first));
}

TEST(Module, ConvertsItsParameters) {
  Pair pair;
  pair.convert(DataType::FLOAT64);
  EXPECT_EQ(pair.dtype(), DataType::FLOAT64);
  for (const auto& [name, value] : pair.named_parameters()) {
    EXPECT_EQ(value.dtype(), DataType::FLOAT64) << name;
  }
  EXPECT_EQ(pair.parameter_at("scale").to_vector<double>(), std::vector<double>(2, 2.0));
  EXPECT_THAT([&] { pair.convert(DataType::BOOL); },
              ThrowsError(ErrorCode::kInvalidArgument, "have no gradients"));
  EXPECT_THAT([&] { pair.first.convert(DataType::FLOAT32); },
              ThrowsError(ErrorCode::kInvalidArgument, "'first' is a submodule"));
}

// However a value was given, with its bytes or to be read later, whatever happens to the model next
// it is no initial value again.
TEST(Module, WhatIsWrittenStaysWhateverFollows) {
  using Given = std::function<Tensor(const Tensor& now)>;
  const std::vector<std::pair<const char*, Given>> ways = {
      {"with its bytes", [](const Tensor& now) { return full(now.shape(), 3.0); }},
      {"deferred", [](const Tensor& now) { return deferred_full(now.shape(), 3.0, now.dtype()); }}};
  Holder model;
  const std::vector<std::pair<const char*, std::function<void(Pair&)>>> nexts = {
      {"nothing", [](Pair&) {}},
      {"the same dtype", [](Pair& pair) { pair.convert(DataType::FLOAT32); }},
      {"there and back",
       [](Pair& pair) {
         pair.convert(DataType::FLOAT64);
         pair.convert(DataType::FLOAT32);
       }},
      {"adoption", [&](Pair& pair) { model.add_module(pair, "pair"); }},
      {"adoption and release",
       [&](Pair& pair) {
         model.add_module(pair, "other");
         model.remove_module(pair);
       }},
      {"a mesh", [](Pair& pair) { shard(pair, distributed::ProcessMesh({1}, {"dp"}), Layout()); }},
      {"another mode", [](Pair& pair) { pair.set_training(false); }},
      {"another fill",
       [](Pair& pair) { pair.fill([](const std::string&, const Tensor& now) { return now; }); }}};
  for (const auto& [way, given] : ways) {
    for (const auto& [next, happen] : nexts) {
      SCOPED_TRACE(fmt::format("{}, then {}", way, next));
      Pair pair;
      pair.fill([&, &f = given](const std::string&, const Tensor& now) { return f(now); });
      happen(pair);
      for (const auto& [name, value] : pair.named_parameters()) {
        const auto count = static_cast<size_t>(value.numel());
        const Tensor whole = value.is_dist() ? distributed::unshard_dtensor(value) : value;
        EXPECT_EQ(whole.to_vector<float>(), std::vector<float>(count, 3.0f)) << name;
      }
      if (pair.parent()) model.remove_module(pair);
    }
  }
}

TEST(ForwardContextScope, IsOfTheWholeModelAndEnds) {
  Pair pair;
  {
    const ForwardContextScope outer(pair, {.number = 3});
    EXPECT_EQ(pair.first.forward_context().number, 3u);
    {
      const ForwardContextScope inner(pair.second, {.number = 4});
      EXPECT_EQ(pair.forward_context().number, 4u);
    }
    EXPECT_EQ(pair.forward_context().number, 3u);
  }
  EXPECT_EQ(pair.forward_context().number, std::nullopt);
}

class WithBuffer final : public Layer {
 public:
  WithBuffer() : w(parameter("w", {2}, constant(2.0))), b(buffer("b", full({2}, 3.0))) {}
  Tensor forward(const Tensor& x) const override { return multiply(multiply(x, w), b); }
  const Tensor& w;
  const Tensor& b;
};

TEST(TensorScope, SubstitutesParametersAndBuffers) {
  const WithBuffer net;
  const Tensor x = full({2}, 1.0);
  {
    const TensorScope lent(net, {full({2}, 5.0), full({2}, 7.0)});
    EXPECT_EQ(net(x).to_vector<float>(), std::vector<float>(2, 35.0f));
  }
  EXPECT_EQ(net(x).to_vector<float>(), std::vector<float>(2, 6.0f));
  EXPECT_EQ(net.tensors().size(), 2u);
  EXPECT_THAT(
      [&] { TensorScope(net, {x}); },
      ThrowsError(ErrorCode::kInvalidArgument, "has 2 parameters and buffers, but 1 are passed"));
}

}  // namespace
}  // namespace phi::nn
