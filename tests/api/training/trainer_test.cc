// A trainer of models that are not the library's: steps, groups, hooks, and what is refused.
#include "api/training/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "api/generated/ops/add.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/dropout.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/subtract.h"
#include "api/nn/layers/dropout.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi::training {
namespace {

using distributed::ProcessMesh;
using distributed::Shard;

class Net final : public nn::Sequential {
 public:
  explicit Net(double dropout = 0.0) {
    add<nn::Linear>("in", 3, 8, nn::LinearOptions{.weight = nn::normal(0.5)});
    add<nn::Linear>("out", 8, 2, nn::LinearOptions{.weight = nn::normal(0.5)});
    if (dropout > 0.0) add<nn::Dropout>("dropout", dropout);
  }
};

// As many micro-batches of rows that follow the step.
std::vector<Batch> batches(int64_t step, int64_t count = 2) {
  std::vector<Batch> out;
  for (int64_t m = 0; m < count; ++m) {
    const auto seed = static_cast<int>(10 * step + m);
    out.push_back({gaussian({4, 3}, 0.0f, 1.0f, seed), gaussian({4, 2}, 0.0f, 1.0f, seed + 5000)});
  }
  return out;
}

const TrainerOptions kOptions = {.optimizer = {.kind = OptimizerKind::kSgd, .weight_decay = 0.0},
                                 .rate = {.peak = 0.1},
                                 .micro_batches = 2};

// Mean squared error by hand: the model is linear, so plain operators on plain tensors do.
TEST(Trainer, TakesStepsOfGradientDescent) {
  Net net;
  Net by_hand;
  for (Tensor p : by_hand.parameters()) p.set_requires_grad();
  Trainer trainer(net, nn::mean_squared_error, kOptions);
  for (int64_t step = 1; step <= 3; ++step) {
    const StepResult result = trainer.step(batches(step));
    double expected = 0;
    for (const Batch& batch : batches(step)) {
      const Tensor half = scale(nn::mean_squared_error(by_hand(batch.inputs), batch.labels), 0.5);
      half.backward();
      expected += half.item();
    }
    EXPECT_NEAR(result.loss, expected, 1e-6);
    double squares = 0;
    for (const Tensor& p : by_hand.parameters()) {
      for (const float g : p.grad().to_vector<float>()) squares += g * g;
    }
    EXPECT_NEAR(result.grad_norm, std::sqrt(squares), 1e-6 * (1 + std::sqrt(squares)));
    for (Tensor p : by_hand.parameters()) {
      const NoGrad no_grad;
      p.replace(subtract(p.detach(), scale(p.grad(), 0.1)));
      p.clear_grad();
    }
  }
  const TensorList given = net.parameters();
  const TensorList expected = by_hand.parameters();
  for (size_t i = 0; i < given.size(); ++i) {
    const auto a = given[i].to_vector<float>();
    const auto b = expected[i].to_vector<float>();
    for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-6) << i << " " << k;
  }
}

TEST(Trainer, AStepThatFailsBetweenMicroBatchesIsAsIfItHadNotBeen) {
  Net net, other;
  int calls = 0;
  Trainer trainer(
      net,
      [&](const Tensor& output, const Tensor& labels) {
        PHI_CHECK(++calls != 4, errors::Unavailable("of the second micro-batch of step 2"));
        return nn::mean_squared_error(output, labels);
      },
      kOptions);
  Trainer whole(other, nn::mean_squared_error, kOptions);
  EXPECT_EQ(trainer.step(batches(1)).loss, whole.step(batches(1)).loss);
  EXPECT_THAT([&] { trainer.step(batches(2)); },
              ThrowsError(ErrorCode::kUnavailable, "of the second micro-batch"));
  EXPECT_EQ(trainer.steps(), 1);
  for (int64_t step = 2; step <= 3; ++step) {
    EXPECT_EQ(trainer.step(batches(step)).loss, whole.step(batches(step)).loss);
  }
  for (size_t i = 0; i < net.parameters().size(); ++i) {
    EXPECT_EQ(net.parameters()[i].to_vector<float>(), other.parameters()[i].to_vector<float>());
  }
}

TEST(Trainer, HooksSeeEveryStepInOrder) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, kOptions);
  std::vector<std::string> seen;
  trainer.on_step(
      [&](int64_t step, const StepResult&) { seen.push_back("a" + std::to_string(step)); });
  trainer.on_step([&](int64_t step, const StepResult& result) {
    EXPECT_TRUE(result.applied);
    EXPECT_EQ(result.learning_rate, 0.1);
    seen.push_back("b" + std::to_string(step));
  });
  trainer.run(2, [](int64_t step) { return batches(step); });
  EXPECT_EQ(seen, (std::vector<std::string>{"a1", "b1", "a2", "b2"}));
  EXPECT_EQ(trainer.steps(), 2);
}

TEST(Trainer, GroupsHaveRatesAndMayStandStill) {
  Net net;
  net.set_group("in.*", {.trained = false});
  net.set_group("out.weight", {.rate = 0.0});
  const auto in = net.parameter_at("in.weight").to_vector<float>();
  const auto weight = net.parameter_at("out.weight").to_vector<float>();
  const auto bias = net.parameter_at("out.bias").to_vector<float>();
  Trainer trainer(net, nn::mean_squared_error, kOptions);
  trainer.step(batches(1));
  EXPECT_EQ(net.parameter_at("in.weight").to_vector<float>(), in);
  EXPECT_EQ(net.parameter_at("out.weight").to_vector<float>(), weight);
  EXPECT_NE(net.parameter_at("out.bias").to_vector<float>(), bias);
  EXPECT_EQ(trainer.train_step().optimized_names(),
            (std::vector<std::string>{"out.weight", "out.bias"}));

  // Half the rate is half the way.
  Net whole;
  Net half;
  half.set_group("out.bias", {.rate = 0.5});
  for (Net* each : {&whole, &half}) {
    Trainer one_step(*each, nn::mean_squared_error, kOptions);
    one_step.step(batches(1));
  }
  const auto far = whole.parameter_at("out.bias").to_vector<float>();
  const auto near = half.parameter_at("out.bias").to_vector<float>();
  for (size_t i = 0; i < far.size(); ++i) EXPECT_NEAR(near[i], far[i] / 2, 1e-7);
}

TEST(Trainer, DecayIsOfMatricesUnlessAGroupSaysOtherwise) {
  TrainerOptions options = kOptions;
  options.optimizer.kind = OptimizerKind::kAdamW;
  options.optimizer.weight_decay = 0.5;
  Net net;
  net.initialise(1);
  net.fill([](const std::string&, const Tensor& now) { return full(now.shape(), 1.0); });
  net.set_group("in.weight", {.decays = false});
  net.set_group("out.bias", {.decays = true});
  Trainer trainer(
      net, [](const Tensor& y, const Tensor&) { return scale(mean(y), 0.0); }, options);
  trainer.step(batches(1));
  const auto first = [&](const char* name) { return net.parameter_at(name).to_vector<float>()[0]; };
  EXPECT_EQ(first("in.weight"), 1.0f);
  EXPECT_EQ(first("in.bias"), 1.0f);
  EXPECT_NEAR(first("out.weight"), 0.95f, 1e-6);
  EXPECT_NEAR(first("out.bias"), 0.95f, 1e-6);
}

TEST(Trainer, IsTheSameOnEveryMeshAndCaptured) {
  const auto losses = [](const std::function<void(Net&)>& lay_out, bool capture) {
    Net net;
    lay_out(net);
    TrainerOptions options = kOptions;
    options.capture = capture;
    Trainer trainer(net, nn::mean_squared_error, options);
    std::vector<double> out;
    trainer.on_step([&](int64_t, const StepResult& result) {
      out.push_back(result.loss);
      out.push_back(result.grad_norm);
    });
    trainer.run(3, [](int64_t step) { return batches(step); });
    EXPECT_EQ(trainer.program().has_value(), capture);
    return out;
  };
  const auto expected = losses([](Net&) {}, false);
  EXPECT_EQ(losses([](Net&) {}, true), expected);
  const auto on = [](const char* dim, const nn::Layout& layout) {
    return [=](Net& net) { nn::shard(net, ProcessMesh({2}, {dim}), layout); };
  };
  const std::pair<const char*, nn::Layout> layouts[] = {
      {"dp", nn::Layout().batches({{"dp", Shard(0)}}).zero(1)},
      {"tp", nn::Layout()
                 .parameters("in.weight", {{"tp", Shard(1)}})
                 .parameters("in.bias", {{"tp", Shard(0)}})
                 .parameters("out.weight", {{"tp", Shard(0)}})
                 .outputs("out", {{"tp", distributed::Replicate()}})},
      {"pp", nn::Layout().pipeline("pp", "*")}};
  for (const auto& [dim, layout] : layouts) {
    for (const bool capture : {false, true}) {
      distributed::run_ranks(2, [&, &d = dim, &l = layout](distributed::World&) {
        const auto given = losses(on(d, l), capture);
        for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(given[i], expected[i], 1e-6) << d;
      });
    }
  }
}

// Draws of its own, without a seed, and in two calls of one dropout.
class Drawing final : public nn::Layer {
 public:
  Drawing(nn::Module& parent, const nn::Name& name, double p)
      : Layer(parent, name), drop_(*this, "drop", p) {}
  Tensor forward(const Tensor& x) const override {
    const Tensor noise = gaussian({4, 1}, 0.0f, 0.1f);
    return add(drop_(drop_(dropout(x, {}, 0.3))), noise);
  }

 private:
  const nn::Dropout drop_;
};

class DrawingNet final : public nn::Sequential {
 public:
  explicit DrawingNet(double p) {
    add<nn::Linear>("in", 3, 8, nn::LinearOptions{.weight = nn::normal(0.5)});
    add<Drawing>("first", p);
    add<nn::Linear>("out", 8, 2, nn::LinearOptions{.weight = nn::normal(0.5)});
    add<Drawing>("second", p);
  }
};

TEST(Trainer, WhatAModelDrawsFollowsTheMicroBatchAlone) {
  const auto losses = [](double p, bool capture, const nn::Layout* layout, int64_t noise = 0) {
    seed(5);
    DrawingNet net(p);
    if (layout) nn::shard(net, ProcessMesh({2}, {"dp"}), *layout);
    TrainerOptions options = kOptions;
    options.capture = capture;
    Trainer trainer(net, nn::mean_squared_error, options);
    std::vector<double> out;
    trainer.on_step([&](int64_t, const StepResult& result) {
      out.push_back(result.loss);
      for (int64_t i = 0; i < noise; ++i) gaussian({1});  // between the steps
    });
    trainer.run(3, [](int64_t) { return batches(1); });
    EXPECT_EQ(rng_state(), (RngState{.seed = 5, .draws = 3 * noise}));
    return out;
  };
  const auto dropping = losses(0.4, false, nullptr), drawing = losses(0.0, false, nullptr);
  EXPECT_EQ(losses(0.4, false, nullptr, 2), dropping);
  EXPECT_EQ(losses(0.0, true, nullptr), drawing);
  const nn::Layout rows = nn::Layout().batches({{"dp", Shard(0)}}).zero(1);
  const nn::Layout stages = nn::Layout().pipeline("dp", "*");
  for (const nn::Layout* layout : {&rows, &stages}) {
    distributed::run_ranks(2, [&](distributed::World&) {
      const auto dropped = losses(0.4, false, layout), drawn = losses(0.0, false, layout);
      const auto captured = losses(0.0, true, layout);
      for (size_t i = 0; i < drawing.size(); ++i) {
        EXPECT_NEAR(dropped[i], dropping[i], 1e-5);
        EXPECT_NEAR(drawn[i], drawing[i], 1e-5);
        EXPECT_NEAR(captured[i], drawing[i], 1e-5);
      }
    });
  }
}

TEST(Trainer, WhatCannotBeHonouredIsRefused) {
  const auto made_with = [](auto change, double dropout = 0.0) {
    return [=] {
      Net net(dropout);
      TrainerOptions options = kOptions;
      change(options);
      Trainer(net, nn::mean_squared_error, options);
    };
  };
  EXPECT_THAT(made_with([](auto& o) { o.micro_batches = 0; }),
              ThrowsError(ErrorCode::kInvalidArgument, "a step of 0 micro-batches"));
  EXPECT_THAT(made_with([](auto& o) { o.capture = true; }, 0.5),
              ThrowsError(ErrorCode::kInvalidArgument, "which a captured step does not"));
  EXPECT_THAT(
      made_with([](auto& o) { o.memory.limits.device_bytes = 1 << 20; }),
      ThrowsError(ErrorCode::kInvalidArgument, "memory limits apply only to captured steps"));
  EXPECT_THAT(made_with([](auto& o) { o.recompute = nn::Recompute::kFull; }),
              ThrowsError(ErrorCode::kInvalidArgument, "full recompute applies to the links"));
  Net net;
  Trainer trainer(net, nn::mean_squared_error, kOptions);
  EXPECT_THAT([&] { trainer.step(batches(1, 3)); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "step 1 is passed 3 micro-batches, but its options require 2"));
}

TEST(Trainer, CountsWhatItNeedsToGoOn) {
  Net net;
  Trainer trainer(net, nn::mean_squared_error, kOptions);
  EXPECT_EQ(trainer.next_batch(), 1);
  trainer.run(3, [](int64_t number) { return batches(number); });
  EXPECT_EQ(trainer.counters(), (TrainerCounters{.steps = 3, .updates = 3, .passes = 6}));
  trainer.skip_to(7);
  EXPECT_EQ(trainer.next_batch(), 8);
  std::vector<int64_t> numbers;
  trainer.run(2, [&](int64_t number) {
    numbers.push_back(number);
    return batches(number);
  });
  EXPECT_EQ(numbers, (std::vector<int64_t>{8, 9}));
  EXPECT_EQ(trainer.steps(), 5);
}

// A batch with a number that spoils all gradients, on one rank's rows alone.
std::vector<Batch> spoiled() {
  auto out = batches(1);
  std::vector<float> labels = out[1].labels.to_vector<float>();
  labels[1] = std::numeric_limits<float>::infinity();
  out[1].labels = Tensor::from(std::move(labels), out[1].labels.shape());
  return out;
}

TEST(Trainer, NumbersThatAreNotFiniteStopItAndSpoilNothing) {
  for (const bool capture : {false, true}) {
    Net net;
    TrainerOptions options = kOptions;
    options.capture = capture;
    Trainer trainer(net, nn::mean_squared_error, options);
    trainer.step(batches(1));
    const auto weight = net.parameter_at("out.weight").to_vector<float>();
    EXPECT_THAT(
        [&] { trainer.step(spoiled()); },
        ThrowsError(ErrorCode::kNotFinite, "step 2: the loss is inf, the norm of its gradients "));
    EXPECT_EQ(net.parameter_at("out.weight").to_vector<float>(), weight);
    EXPECT_EQ(trainer.steps(), 1);
    EXPECT_FALSE(net.parameter_at("out.weight").grad_so_far().defined());
  }
}

TEST(Trainer, NumbersThatAreNotFiniteAreTracedToRankAndOperator) {
  distributed::run_ranks(2, [](distributed::World&) {
    Net net;
    nn::shard(net, ProcessMesh({2}, {"dp"}), nn::Layout().batches({{"dp", Shard(0)}}));
    Trainer trainer(net, nn::mean_squared_error, kOptions);
    auto bad = batches(1);
    std::vector<float> labels = bad[1].labels.to_vector<float>();
    labels[7] = std::numeric_limits<float>::quiet_NaN();  // the last of 4 rows: rank 1's
    bad[1].labels = Tensor::from(std::move(labels), {4, 2});
    EXPECT_THAT([&] { trainer.step(bad); },
                ThrowsError(ErrorCode::kNotFinite,
                            "all parameters are finite before the step\n  first, at rank 1: "
                            "operator subtract: its output has a number that is not finite"));
    EXPECT_THAT([&] { trainer.step(bad); },
                ThrowsError(ErrorCode::kNotFinite,
                            "gradients that are not finite: 'in.weight', 'in.bias', "
                            "'out.weight', 'out.bias'"));
  });
}

TEST(Trainer, AParameterThatIsNotFiniteIsNamed) {
  Net net;
  net.fill([](const std::string& name, const Tensor& now) {
    const float value = name == "out.bias" ? std::numeric_limits<float>::infinity() : 1.0f;
    return full(now.shape(), value);
  });
  Trainer trainer(net, nn::mean_squared_error, kOptions);
  EXPECT_THAT([&] { trainer.step(batches(1)); },
              ThrowsError(ErrorCode::kNotFinite,
                          "before the step, at rank 0: parameter 'out.bias' has a number that is "
                          "not finite, element 0 of f32[2]"));
}

TEST(Trainer, GradientsTooLargeForTheirNormAreToldAsSuch) {
  Net net;
  const auto loss = [](const Tensor& y, const Tensor&) { return scale(mean(y), 1e25); };
  Trainer trainer(net, loss, kOptions);
  EXPECT_THAT([&] { trainer.step(batches(1)); },
              ThrowsError(ErrorCode::kNotFinite,
                          "every operator's output on every rank is finite too, but a sum over "
                          "ranks or of squares of gradients is not"));
}

TEST(Trainer, StepsMayBeLeftOutButNotForEver) {
  Net net;
  TrainerOptions options = kOptions;
  options.on_nonfinite = OnNonFinite::kSkip;
  options.max_left_out = 2;
  Trainer trainer(net, nn::mean_squared_error, options);
  trainer.step(batches(1));
  const auto weight = net.parameter_at("out.weight").to_vector<float>();
  for (int i = 0; i < 2; ++i) {
    const StepResult result = trainer.step(spoiled());
    EXPECT_FALSE(result.finite);
    EXPECT_FALSE(result.applied);
  }
  EXPECT_EQ(net.parameter_at("out.weight").to_vector<float>(), weight);
  EXPECT_EQ(trainer.counters(),
            (TrainerCounters{.steps = 3, .updates = 1, .passes = 6, .left_out = 2}));
  EXPECT_TRUE(trainer.step(batches(2)).applied);
  EXPECT_EQ(trainer.counters().left_out, 0);
  trainer.step(spoiled());
  trainer.step(spoiled());
  EXPECT_THAT([&] { trainer.step(spoiled()); },
              ThrowsError(ErrorCode::kNotFinite, "3 steps in a row were skipped"));
}

TEST(Trainer, Float16ThatGoesNowhereEndsWithAdvice) {
  Net net;
  net.initialise(1, DataType::FLOAT16);
  TrainerOptions options = kOptions;
  options.on_nonfinite = OnNonFinite::kSkip;
  const auto loss = [](const Tensor& y, const Tensor& labels) {
    return nn::mean_squared_error(scale(y, 60000.0), labels);
  };
  Trainer trainer(net, loss, options);
  const auto in_half = [](int64_t step) {
    auto out = batches(step);
    for (auto& [inputs, labels] : out) {
      inputs = cast(inputs, DataType::FLOAT16);
      labels = cast(labels, DataType::FLOAT16);
    }
    return out;
  };
  int64_t steps = 0;
  EXPECT_THAT(
      [&] {
        while (++steps < 100) trainer.step(in_half(steps));
      },
      ThrowsError(ErrorCode::kNotFinite, "Train in bfloat16, which has the range of float32"));
  EXPECT_EQ(steps, 21);
}

}  // namespace
}  // namespace phi::training
