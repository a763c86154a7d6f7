// Sizes of Llamas: published models, parts that add up to the whole, errors. What jobs really hold:
// tests/tools/job/model/llama_states_test.cc.
#include "distributed/planner/llama_size.h"

#include <gtest/gtest.h>

#include "support/error_matchers.h"

namespace phi::distributed {
namespace {

constexpr LlamaShape k405B = {126, 16384, 128, 8, 53248, 128256};
constexpr LlamaShape kSmall = {5, 24, 6, 2, 40, 32};

// The counts of the published weights.
TEST(LlamaSize, ParametersAreThoseOfThePublishedModels) {
  EXPECT_EQ(llama_parameters({32, 4096, 32, 8, 14336, 128256}), 8'030'261'248);   // Llama 3.1 8B
  EXPECT_EQ(llama_parameters({80, 8192, 64, 8, 28672, 128256}), 70'553'706'496);  // 3.1 70B
  EXPECT_EQ(llama_parameters(k405B), 405'853'388'800);                            // 3.1 405B
  EXPECT_EQ(llama_parameters({32, 4096, 32, 32, 11008, 32000}), 6'738'415'616);   // Llama 2 7B
}

TEST(LlamaSize, StagesAddUpToTheModel) {
  for (const int64_t pp : {1, 2, 5}) {
    for (const int64_t chunks : {1, 2}) {
      if (pp * chunks > kSmall.layers) continue;
      int64_t sum = 0;
      for (int64_t stage = 0; stage < pp; ++stage) {
        sum += llama_stage_parameters(kSmall, {.pp = pp, .chunks = chunks}, stage);
      }
      EXPECT_EQ(sum, llama_parameters(kSmall)) << pp << " stages of " << chunks;
    }
  }
}

TEST(LlamaSize, TensorParallelRanksHoldTheirPartAndAllNorms) {
  const int64_t norms = (2 * kSmall.layers + 1) * kSmall.hidden;
  const int64_t half = llama_stage_parameters(kSmall, {.tp = 2}, 0);
  EXPECT_EQ(2 * half, llama_parameters(kSmall) + norms);
}

TEST(LlamaSize, WhatZeroSplitsIsSplit) {
  const int64_t elements = llama_stage_parameters(kSmall, {.tp = 2}, 0);
  const auto states = [](ZeroStage zero) {
    return llama_rank_states(kSmall, {.dp = 4, .tp = 2, .zero = zero}, 0);
  };
  EXPECT_EQ(states(ZeroStage::kNone).optimizer, 12 * elements);
  EXPECT_EQ(states(ZeroStage::kOptimizer).optimizer, 3 * elements);
  EXPECT_EQ(states(ZeroStage::kOptimizer).gradients, 2 * elements);
  EXPECT_EQ(states(ZeroStage::kGradients).gradients, elements / 2);
  EXPECT_EQ(states(ZeroStage::kGradients).parameters, 2 * elements);
  EXPECT_EQ(states(ZeroStage::kParameters).parameters, elements / 2);
  const StateBytes float32 = {.parameter = 4, .gradient = 4, .optimizer = 8};
  const LlamaStates whole = llama_rank_states(kSmall, {.dp = 4, .tp = 2}, 0, float32);
  EXPECT_EQ(whole.parameters, 4 * elements);
  EXPECT_EQ(whole.optimizer, 8 * elements);
}

TEST(LlamaSize, WrongNumbersAreNamed) {
  const auto wrong = [](LlamaShape shape, LlamaLayout layout, int64_t stage, const char* message) {
    EXPECT_THAT([&] { llama_rank_states(shape, layout, stage); },
                ThrowsError(ErrorCode::kInvalidArgument, message));
  };
  EXPECT_THAT([] { llama_parameters({}); },
              ThrowsError(ErrorCode::kInvalidArgument, "llama size: layers is 0, must be >= 1"));
  wrong({1, 24, 5, 1, 8, 8}, {}, 0, "heads 5 does not divide hidden 24");
  wrong({1, 24, 6, 4, 8, 8}, {}, 0, "kv_heads 4 does not divide heads 6");
  wrong(kSmall, {.tp = 4}, 0, "tp 4 does not divide kv_heads 2");
  wrong({5, 24, 6, 2, 41, 32}, {.tp = 2}, 0, "tp 2 does not divide ffn 41");
  wrong({5, 24, 6, 2, 40, 33}, {.tp = 2}, 0, "tp 2 does not divide vocabulary 33");
  wrong(kSmall, {.dp = 5, .zero = ZeroStage::kOptimizer}, 0, "dp 5 does not divide hidden 24");
  wrong(kSmall, {.pp = 2}, 2, "stage 2 is not one of the 2");
  wrong(kSmall, {.pp = 2, .chunks = 3}, 0, "5 layers are fewer than 2 stages of 3 chunks");
  wrong(kSmall, {.dp = 0}, 0, "dp is 0, must be >= 1");
}

}  // namespace
}  // namespace phi::distributed
