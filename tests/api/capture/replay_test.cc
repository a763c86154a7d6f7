// Captured programs whose steps a GPU, the emulator's, launches as graphs: the same bits as step by
// step, in every order of warps, blocks and streams, also where something changes between runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "api/autograd/autograd.h"
#include "api/capture/program.h"
#include "api/generated/ops/adamw_.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/cross_entropy_with_softmax.h"
#include "api/generated/ops/embedding.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/greater_than.h"
#include "api/generated/ops/index_put.h"
#include "api/generated/ops/layer_norm.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/softmax.h"
#include "api/generated/ops/subtract.h"
#include "api/generated/ops/tanh.h"
#include "phi/core/rank_context.h"
#include "phi/tensor_api.h"
#include "support/cuda_on_cpu/cuda_on_cpu.h"
#include "support/error_matchers.h"

namespace phi {
namespace {

constexpr int64_t kRows = 6;
constexpr int64_t kWords = 11;
constexpr int64_t kWidth = 24;

Tensor weights(const Dims& shape, uint64_t seed) {
  Tensor w = deferred_gaussian(shape, 0.0f, 0.4f, seed);
  w.dense().raw_data();
  return w;
}

std::vector<float> values_of(const Tensor& x) { return x.to_vector<float>(); }

/// Words to words, with a step of AdamW for one weight and of plain descent for the others.
struct Model {
  Tensor table = weights({kWords, kWidth}, 1);
  Tensor up = weights({kWidth, 2 * kWidth}, 2);
  Tensor head = weights({2 * kWidth, kWords}, 3);
  Tensor scaling = full({kWidth}, 1.0f);
  Tensor moment1 = full({kWidth, 2 * kWidth}, 0.0f);
  Tensor moment2 = full({kWidth, 2 * kWidth}, 0.0f);
  Tensor beta1_pow = full({1}, 0.9f);
  Tensor beta2_pow = full({1}, 0.999f);

  TensorList trained() { return {table, up, head, scaling}; }
  Model() {
    for (Tensor x : trained()) x.set_requires_grad();
  }
  /// Of words, labels and learning rate.
  TensorList step(const TensorList& in) {
    const Tensor x = layer_norm(embedding(in[0], table), scaling);
    const Tensor scores = matmul(gelu(matmul(x, up)), head);
    const Tensor loss = mean(std::get<1>(cross_entropy_with_softmax(scores, in[1])), {}, false);
    const TensorList grads = grad({loss}, trained());
    const NoGrad no_grad;
    for (const size_t i : {size_t{0}, size_t{2}, size_t{3}}) {
      Tensor parameter = trained()[i].detach();
      subtract_(parameter, multiply(grads[i], in[2]));
    }
    Tensor adapted = up.detach();
    std::optional<Tensor> none;
    adamw_(adapted, grads[1], in[2], moment1, moment2, none, beta1_pow, beta2_pow, none);
    return {loss.detach(), scores.detach()};
  }
  std::vector<std::vector<float>> state() {
    std::vector<std::vector<float>> all;
    for (const Tensor& x : {table, up, head, scaling, moment1, moment2, beta1_pow}) {
      all.push_back(values_of(x));
    }
    return all;
  }
};

TensorList batch(int run) {
  std::vector<int64_t> words, labels;
  for (int64_t i = 0; i < kRows; ++i) {
    words.push_back((i * 5 + run * 3) % kWords);
    labels.push_back((i * 7 + run) % kWords);
  }
  return {Tensor::from<int64_t>(words, {kRows}), Tensor::from<int64_t>(labels, {kRows, 1}),
          full({1}, 0.05 / (run + 1))};
}

class Replayed : public ::testing::Test {
 protected:
  void SetUp() override { RankContext::current().set_place(GPUPlace(0)); }
  void TearDown() override { cuda_on_cpu::reset(); }

  static void in_each_order(const std::function<void()>& test) {
    using cuda_on_cpu::Order;
    const std::pair<Order, uint64_t> orders[] = {{Order::kForward, 0},
                                                 {Order::kBackward, 0},
                                                 {Order::kDrawn, 1},
                                                 {Order::kDrawn, 2},
                                                 {Order::kDrawn, 3}};
    for (const auto& [order, seed] : orders) {
      SCOPED_TRACE(::testing::Message() << "order " << static_cast<int>(order) << ", " << seed);
      cuda_on_cpu::set_order(order, seed);
      test();
    }
  }
  /// Graphs that `work` launches.
  static uint64_t graphs_of(const std::function<void()>& work) {
    const uint64_t before = cuda_on_cpu::graph_launches();
    work();
    return cuda_on_cpu::graph_launches() - before;
  }
};

TEST_F(Replayed, StepsOfTrainingGiveTheSameBits) {
  in_each_order([] {
    const auto train = [](bool graphs) {
      Model model;
      const Program program =
          capture([&](const TensorList& in) { return model.step(in); }, batch(0));
      program.use_graphs(graphs);
      std::vector<std::vector<float>> results;
      TensorList kept;
      for (int run = 0; run < 5; ++run) {
        const uint64_t launched = graphs_of([&] {
          for (const Tensor& out : program.run(batch(run))) kept.push_back(out);
        });
        EXPECT_EQ(launched, graphs && run > 0 ? 1u : 0u) << run;
      }
      // What an earlier run gave stays as it was.
      for (const Tensor& out : kept) results.push_back(values_of(out));
      for (const auto& values : model.state()) results.push_back(values);
      return results;
    };
    EXPECT_EQ(train(true), train(false));
  });
}

TEST_F(Replayed, AReplacedParameterIsSeen) {
  in_each_order([] {
    TensorList w = {weights({8, 8}, 1), weights({8, 8}, 2)};
    const auto f = [&](const TensorList& in) {
      return TensorList{softmax(tanh(matmul(scale(matmul(in[0], w[0]), 2.0), w[1])))};
    };
    const Tensor x = weights({4, 8}, 3);
    const Program program = capture(f, {x});
    for (int run = 0; run < 6; ++run) {
      if (run == 3) w[1].replace(weights({8, 8}, 77));
      if (run == 4) scale_(w[0], 0.5);
      EXPECT_EQ(values_of(program.run({x})[0]), values_of(f({x})[0])) << run;
    }
  });
}

TEST_F(Replayed, InputsThatAreWrittenToOrGivenBackAreTheCallers) {
  in_each_order([] {
    const auto f = [](const TensorList& in) {
      Tensor sum = in[0];
      add_(sum, scale(in[1], 2.0));
      return TensorList{tanh(scale(in[1], 3.0)), in[1], sum};
    };
    const Program program = capture(f, {weights({4, 8}, 1), weights({4, 8}, 2)});
    for (uint64_t run = 0; run < 4; ++run) {
      const TensorList own = {weights({4, 8}, run), weights({4, 8}, run + 10)};
      const TensorList eager = {weights({4, 8}, run), weights({4, 8}, run + 10)};
      const TensorList out = program.run(own);
      const TensorList expected = f(eager);
      for (size_t i = 0; i < out.size(); ++i) {
        EXPECT_EQ(values_of(out[i]), values_of(expected[i])) << run << ", " << i;
      }
      EXPECT_EQ(values_of(own[0]), values_of(eager[0]));
      EXPECT_EQ(out[1].dense().storage(), own[1].dense().storage());
    }
  });
}

TEST_F(Replayed, AStepThatWaitsRunsByItselfBetweenGraphs) {
  in_each_order([] {
    const auto f = [](const TensorList& in) {
      const Tensor x = tanh(scale(gelu(in[0]), 2.0));
      const Tensor mask = greater_than(x, full({4, 8}, 0.1f));
      const Tensor y = index_put(x, {mask}, full({1}, 9.0f));  // counts on the host
      return TensorList{tanh(scale(gelu(y), 0.5))};
    };
    const Program program = capture(f, {weights({4, 8}, 1)});
    uint64_t launched = 0;
    for (uint64_t run = 0; run < 5; ++run) {
      const Tensor x = weights({4, 8}, run);
      Tensor out;
      launched = graphs_of([&] { out = program.run({x})[0]; });
      EXPECT_EQ(values_of(out), values_of(f({x})[0])) << run;
    }
    EXPECT_EQ(launched, 2u);
  });
}

TEST_F(Replayed, RefusedElementsAreStillTold) {
  const Tensor table = weights({kWords, 8}, 1);
  const auto f = [&](const TensorList& in) {
    return TensorList{tanh(scale(gelu(embedding(in[0], table)), 2.0))};
  };
  const auto words = [](int64_t word) { return Tensor::from<int64_t>({1, word}, {2}); };
  const Program program = capture(f, {words(0)});
  for (int run = 0; run < 3; ++run) values_of(program.run({words(run)})[0]);
  EXPECT_THAT([&] { values_of(program.run({words(kWords)})[0]); },
              ThrowsError(ErrorCode::kOutOfRange, "[embedding]"));
  EXPECT_EQ(values_of(program.run({words(4)})[0]), values_of(f({words(4)})[0]));
}

TEST_F(Replayed, WhatIsKeptForGraphsIsCountedAndGivenBack) {
  const int64_t before = memory_stats(GPUPlace(0)).current;
  {
    Model model;
    const Program program = capture([&](const TensorList& in) { return model.step(in); }, batch(0));
    program.run(batch(0));
    const int64_t plain = memory_stats(GPUPlace(0)).current;
    for (int run = 0; run < 3; ++run) program.run(batch(run));
    EXPECT_GT(memory_stats(GPUPlace(0)).current, plain);
  }
  EXPECT_EQ(memory_stats(GPUPlace(0)).current, before);
}

}  // namespace
}  // namespace phi
