// Bytes that a layer keeps for its backward pass, against the formulas of Korthikanti et al. 2022.
#include <gtest/gtest.h>

#include "api/generated/ops/full.h"
#include "api/nn/loss.h"
#include "api/nn/models/laid_out.h"
#include "api/training/optimizer.h"
#include "distributed/comm/local/local_world.h"
#include "distributed/planner/activation_bytes.h"
#include "phi/tensor_api.h"

namespace phi::nn::models {
namespace {

constexpr int64_t kSequence = 16;
constexpr int64_t kBatch = 2;
constexpr int64_t kHidden = 32;
constexpr int64_t kHeads = 4;

// What the forward pass of a model with so many layers leaves behind.
int64_t kept_bytes(int64_t layers, int64_t tp, Recompute recompute, bool sequence_parallel) {
  const GptConfig model{.seq_len = kSequence,
                        .d_model = kHidden,
                        .layers = layers,
                        .heads = kHeads,
                        .hidden = 4 * kHidden,
                        .dropout = 0.1};
  const auto gpt = laid_out(model, distributed::ProcessMesh({tp}, {"tp"}),
                            {.sequence_parallel = sequence_parallel}, 1, DataType::BFLOAT16);
  gpt->set_recompute(recompute);
  for (Tensor parameter : gpt->parameters()) parameter.set_requires_grad();
  const Tensor ids = full({kBatch, kSequence}, 1, DataType::INT64);
  const Tensor labels = full({kBatch, kSequence, 1}, 1, DataType::INT64);
  const ForwardContextScope pass(*gpt, {.number = 7});
  const int64_t before = memory_stats(CPUPlace()).current;
  const Tensor loss = cross_entropy((*gpt)(ids), labels);
  return memory_stats(CPUPlace()).current - before;
}

int64_t bytes_of_one_layer(int64_t tp, Recompute recompute, bool sequence_parallel) {
  std::vector<int64_t> bytes(static_cast<size_t>(tp));
  distributed::run_ranks(static_cast<int>(tp), [&](distributed::World& world) {
    bytes[static_cast<size_t>(world.rank())] = kept_bytes(3, tp, recompute, sequence_parallel) -
                                               kept_bytes(2, tp, recompute, sequence_parallel);
  });
  for (int64_t other : bytes) EXPECT_EQ(other, bytes[0]);
  return bytes[0];
}

// Of the float32 statistics: mean and variance of two norms, log-sum-exp of attention.
int64_t statistics(int64_t tp, bool sequence_parallel) {
  const int64_t positions = kSequence * kBatch;
  return 4 * positions * (4 / (sequence_parallel ? tp : 1)) + 4 * positions * kHeads / tp;
}

// The published bytes without the attention matrix, which is never made here: their selective
// recomputation.
int64_t published(int64_t tp, bool sequence_parallel, bool full) {
  distributed::TransformerLayer layer{.sequence = kSequence,
                                      .micro_batch = kBatch,
                                      .hidden = kHidden,
                                      .heads = kHeads,
                                      .tensor_parallel = tp,
                                      .sequence_parallel = sequence_parallel};
  layer.recompute = full ? distributed::Recompute::kFull : distributed::Recompute::kSelective;
  return static_cast<int64_t>(distributed::layer_activation_bytes(layer));
}

TEST(ActivationBytes, AreThePublishedOnesWithoutTheAttentionMatrix) {
  for (const int64_t tp : {1, 2, 4}) {
    for (const bool sequence_parallel : {false, true}) {
      EXPECT_EQ(bytes_of_one_layer(tp, Recompute::kNone, sequence_parallel),
                published(tp, sequence_parallel, false) + statistics(tp, sequence_parallel))
          << "tp " << tp << ", sequence parallel " << sequence_parallel;
    }
  }
}

TEST(ActivationBytes, FullRecomputeKeepsTheInput) {
  for (const int64_t tp : {1, 2}) {
    EXPECT_EQ(bytes_of_one_layer(tp, Recompute::kFull, false), published(tp, false, true));
  }
}

TEST(ActivationBytes, SelectiveRecomputeKeepsTheFusedProductAndNoLogSumExp) {
  const int64_t norms = 4 * kSequence * kBatch * 4;
  EXPECT_EQ(bytes_of_one_layer(1, Recompute::kSelective, false),
            published(1, false, false) + norms);
}

}  // namespace
}  // namespace phi::nn::models
