// The captured program of a training step: as large for 24 layers as for 4, and made without bytes.
#include <gtest/gtest.h>

#include "api/capture/program.h"
#include "api/generated/ops/full.h"
#include "api/nn/loss.h"
#include "api/nn/models/laid_out.h"
#include "phi/tensor_api.h"

namespace phi::nn::models {
namespace {

struct Kind {
  const char* name;
  const char* model;
  Recompute recompute;
};

struct Captured {
  std::vector<size_t> body_operations;  // of the layers: forward, backward
  int64_t steps;
  int64_t tensor_bytes;  // most at once while it was captured
};

constexpr int64_t kBatch = 2;
constexpr int64_t kSequence = 16;

ModelConfig model_with(const Kind& kind, int64_t layers) {
  if (kind.model == std::string("llama")) {
    return LlamaConfig{.seq_len = kSequence,
                       .d_model = 32,
                       .layers = layers,
                       .heads = 4,
                       .kv_heads = 2,
                       .ffn = 48};
  }
  return GptConfig{
      .seq_len = kSequence, .d_model = 32, .layers = layers, .heads = 4, .hidden = 128};
}

// Loss and all gradients.
Captured capture_step(const Kind& kind, int64_t layers) {
  const auto decoder = laid_out(model_with(kind, layers), one());
  decoder->set_recompute(kind.recompute);
  const TensorList leaves = decoder->parameters();
  for (Tensor leaf : leaves) leaf.set_requires_grad();
  Captured captured{};
  const auto step = [&](const TensorList& in) {
    const Tensor loss = cross_entropy((*decoder)(in[0]), in[1]);
    TensorList outputs = grad({loss}, leaves);
    outputs.push_back(loss.detach());
    captured.tensor_bytes = memory_stats(CPUPlace()).peak;
    return outputs;
  };
  const Program program =
      capture(step, {distributed::shard_tensor(full({kBatch, kSequence}, 1, DataType::INT64), one(),
                                               {distributed::Shard(0)}),
                     distributed::shard_tensor(full({kBatch, kSequence, 1}, 1, DataType::INT64),
                                               one(), {distributed::Shard(0)})});
  for (const ir::Body& body : program.bodies()) {
    captured.body_operations.push_back(body.operations.size());
  }
  captured.steps = program.num_steps();
  return captured;
}

class ProgramSize : public ::testing::TestWithParam<Kind> {};

TEST_P(ProgramSize, IsThatOfOneLayer) {
  const Captured few = capture_step(GetParam(), 4);
  const Captured many = capture_step(GetParam(), 24);
  ASSERT_EQ(few.body_operations.size(), 2u);
  EXPECT_EQ(many.body_operations, few.body_operations);
  EXPECT_EQ(many.steps, few.steps);
  EXPECT_GT(few.body_operations[0], 8u);
  EXPECT_GT(few.body_operations[1], few.body_operations[0]);
}

TEST_P(ProgramSize, CapturingAllocatesNoTensor) {
  const int64_t before = memory_stats(CPUPlace()).peak;
  EXPECT_EQ(capture_step(GetParam(), 4).tensor_bytes, 0);
  EXPECT_EQ(memory_stats(CPUPlace()).peak, before);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ProgramSize,
                         ::testing::Values(Kind{"Gpt", "gpt", Recompute::kNone},
                                           Kind{"GptRecomputed", "gpt", Recompute::kFull},
                                           Kind{"Llama", "llama", Recompute::kNone},
                                           Kind{"LlamaCore", "llama", Recompute::kSelective}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace phi::nn::models
