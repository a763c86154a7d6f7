// What every rank of a job holds of a Llama, played without bytes, is what the planner's formulas
// say.
#include <gtest/gtest.h>

#include "api/data/token_samples.h"
#include "api/nn/loss.h"
#include "distributed/comm/dry/dry_world.h"
#include "distributed/planner/llama_size.h"
#include "tools/job/build.h"

namespace phi::job {
namespace {

using distributed::LlamaLayout;
using distributed::LlamaShape;
using distributed::ZeroStage;

struct Played {
  const char* model;
  LlamaLayout layout;
  const char* run = "";
  std::vector<int64_t> ranks = {};  // none: all
};

JobConfig config_of(const Played& job) {
  const LlamaLayout& layout = job.layout;
  const auto number = [](int64_t n) { return std::to_string(n); };
  return parse_job(
      "mode: train\nmodel: {kind: llama, " + std::string(job.model) + "}\nmesh: {shape: [" +
          number(layout.dp) + ", " + number(layout.pp) + ", " + number(layout.tp) +
          "]}\ndata: {paths: [phi/common]}\nrun: {global_batch: " + number(2 * layout.dp) +
          ", micro_batches: 2, chunks: " + number(layout.chunks) +
          ", zero_stage: " + number(static_cast<int64_t>(layout.zero)) + job.run + "}",
      "job.yaml");
}

void expect_formulas(const Played& job, int64_t rank) {
  const JobConfig config = config_of(job);
  const nn::models::ModelValues& m = config.model.values;
  const LlamaShape shape{m.size("layers"),   m.size("d_model"), m.size("heads"),
                         m.size("kv_heads"), m.size("ffn"),     m.size("vocab")};
  const bool is_16bit = size_of(config.run.dtype) == 2;
  const distributed::StateBytes bytes = {.parameter = is_16bit ? 2.0 : 4.0,
                                         .gradient = is_16bit ? 2.0 : 4.0,
                                         .optimizer = is_16bit ? 12.0 : 8.0};
  const int64_t stage = rank / job.layout.tp % job.layout.pp;
  const auto expected = distributed::llama_rank_states(shape, job.layout, stage, bytes);

  distributed::DryWorld world(rank, config.mesh.num_ranks());
  const distributed::World::Scope scope(world);
  const distributed::ProcessMesh mesh(config.mesh.shape, config.mesh.dims);
  const data::TokenSamples data(
      data::TokenData::open({.paths = config.data.paths, .base = AUTOPHI_SOURCE_DIR}),
      static_cast<uint64_t>(config.data.seed), m.size("seq_len"));
  const auto model = build_model(config, mesh, /*weights=*/nullptr);
  EXPECT_EQ(model->num_parameters(), distributed::llama_parameters(shape));
  training::Trainer trainer(*model, nn::cross_entropy, trainer_options(config));
  trainer.step(batches_of(config, data, 1));
  const training::StateBytes given = trainer.state_bytes();
  SCOPED_TRACE("rank " + std::to_string(rank) + " of " + config.mesh.to_string() + job.run);
  EXPECT_EQ(model->parameter_bytes_here(), expected.parameters);
  EXPECT_EQ(given.parameters, expected.parameters);
  EXPECT_EQ(given.gradients, expected.gradients);
  EXPECT_EQ(given.states, expected.optimizer);
  EXPECT_EQ(memory_stats(CPUPlace()).peak, 0);
  for (int from = 0; from < kNumTiers; ++from) {
    for (int to = 0; to < kNumTiers; ++to) {
      EXPECT_EQ(transfer_stats().of(static_cast<Tier>(from), static_cast<Tier>(to)),
                TransferCount());
    }
  }
}

constexpr const char* kSmall =
    "vocab: 256, seq_len: 16, d_model: 48, layers: 5, heads: 12, kv_heads: 4, ffn: 40";
constexpr const char* k405B =
    "vocab: 128256, seq_len: 8192, d_model: 16384, layers: 126, heads: 128, kv_heads: 8, ffn: "
    "53248";

class LlamaStates : public ::testing::TestWithParam<Played> {};

TEST_P(LlamaStates, AreThoseOfTheFormulas) {
  const Played& job = GetParam();
  const int64_t ranks = job.layout.dp * job.layout.pp * job.layout.tp;
  for (int64_t rank : job.ranks) expect_formulas(job, rank);
  for (int64_t rank = 0; job.ranks.empty() && rank < ranks; ++rank) expect_formulas(job, rank);
}

const Played kJobs[] = {
    {kSmall, {}},
    {kSmall, {.dp = 2, .pp = 2, .tp = 2}},
    {kSmall, {.dp = 2, .pp = 2, .tp = 2, .zero = ZeroStage::kOptimizer}, ", dtype: bfloat16"},
    {kSmall, {.dp = 3, .tp = 2, .zero = ZeroStage::kGradients}, ", dtype: float16"},
    {kSmall, {.dp = 4, .pp = 2, .zero = ZeroStage::kParameters}, ", recompute: full"},
    {kSmall,
     {.dp = 2, .pp = 2, .tp = 4, .chunks = 2, .zero = ZeroStage::kParameters},
     ", dtype: bfloat16, schedule: interleaved, sequence_parallel: true, recompute: selective"},
    // First stage, those between, and last; the two last have a layer less.
    {k405B,
     {.dp = 128, .pp = 16, .tp = 8},
     ", dtype: bfloat16, sequence_parallel: true",
     {0, 77, 9999, 16383}},
    {k405B,
     {.dp = 128, .pp = 16, .tp = 8, .zero = ZeroStage::kOptimizer},
     ", dtype: bfloat16",
     {7, 112, 16383}},
    {k405B,
     {.dp = 128, .pp = 16, .tp = 8, .zero = ZeroStage::kParameters},
     ", dtype: bfloat16, recompute: full",
     {0, 8191, 16376}},
};

INSTANTIATE_TEST_SUITE_P(Jobs, LlamaStates, ::testing::ValuesIn(kJobs));

}  // namespace
}  // namespace phi::job
