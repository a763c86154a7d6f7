// Where parts of a model lie after nn::shard().
#include "api/nn/layout/shard.h"

#include <gtest/gtest.h>

#include "api/nn/layers/linear.h"
#include "api/nn/models/decoder.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi::nn {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;

models::Gpt small(int64_t layers = 3) {
  return models::Gpt({.seq_len = 4, .d_model = 8, .layers = layers, .heads = 2, .hidden = 16});
}

TEST(Shard, TransformerLayoutIsMegatrons) {
  distributed::run_ranks(4, [](distributed::World&) {
    models::Gpt model = small();
    const ProcessMesh mesh({2, 2}, {"dp", "tp"});
    shard(model, mesh, transformer_layout(model, mesh));
    const auto along_tp = [&](const char* name) {
      return model.parameter_at(name).placements()[1].to_string();
    };
    EXPECT_EQ(along_tp("token_embedding"), "S0");
    EXPECT_EQ(along_tp("position_embedding"), "R");
    EXPECT_EQ(along_tp("layer2.norm_mlp.scale"), "R");
    EXPECT_EQ(along_tp("layer2.qkv.weight"), "S1");
    EXPECT_EQ(along_tp("layer2.qkv.bias"), "S0");
    EXPECT_EQ(along_tp("layer2.projection.weight"), "S0");
    EXPECT_EQ(along_tp("layer2.projection.bias"), "R");
    EXPECT_EQ(along_tp("layer2.up.weight"), "S1");
    EXPECT_EQ(along_tp("layer2.down.weight"), "S0");
    EXPECT_EQ(along_tp("head"), "S1");
    for (const auto& [name, value] : model.named_parameters()) {
      EXPECT_EQ(value.placements()[0], Replicate()) << name;
    }
  });
}

TEST(Shard, ARankHoldsItsShardsAlone) {
  distributed::run_ranks(4, [](distributed::World& world) {
    const int64_t before = memory_stats(CPUPlace()).current;
    models::Gpt model = small();
    const ProcessMesh mesh({2, 2}, {"pp", "tp"});
    shard(model, mesh, transformer_layout(model, mesh));
    const int64_t held = memory_stats(CPUPlace()).current - before;
    EXPECT_EQ(held, model.parameter_bytes_here());
    const bool first = world.rank() < 2;
    EXPECT_EQ(model.parameter_at("layer1.qkv.weight").nbytes_here() > 0, first);
    EXPECT_EQ(model.parameter_at("layer2.qkv.weight").nbytes_here() > 0, !first);
    EXPECT_EQ(model.parameter_at("token_embedding").nbytes_here(), first ? 256u / 2 * 8 * 4 : 0u);
    EXPECT_EQ(model.parameter_at("head").nbytes_here(), first ? 0u : 256u / 2 * 8 * 4);
  });
}

TEST(Shard, ZeroThreeSplitsParametersFurther) {
  distributed::run_ranks(2, [](distributed::World&) {
    models::Gpt model = small();
    const ProcessMesh mesh({2}, {"dp"});
    shard(model, mesh, transformer_layout(model, mesh, {.zero_stage = 3}));
    for (const auto& [name, value] : model.named_parameters()) {
      EXPECT_EQ(static_cast<int64_t>(value.nbytes_here()), value.numel() * 4 / 2) << name;
    }
    EXPECT_EQ(model.sharding()->zero.stage, 3);
  });
}

TEST(Shard, ChunksGoRoundTheStages) {
  distributed::run_ranks(2, [](distributed::World& world) {
    models::Gpt model = small(5);
    const ProcessMesh mesh({2}, {"pp"});
    shard(model, mesh, transformer_layout(model, mesh, {.chunks = 2}));
    EXPECT_EQ(model.num_chunks(), 4);
    EXPECT_EQ(model.num_stages(), 2);
    // Layers 0 1 | 2 | 3 | 4 on stages 0, 1, 0, 1.
    const std::vector<int> stage = {0, 0, 1, 0, 1};
    for (size_t i = 0; i < stage.size(); ++i) {
      const auto& weight = model.parameter_at("layer" + std::to_string(i) + ".up.weight");
      EXPECT_EQ(weight.initialized(), stage[i] == world.rank()) << i;
    }
  });
}

TEST(Shard, ACutDistributesLinksUnevenly) {
  distributed::run_ranks(2, [](distributed::World& world) {
    const ProcessMesh mesh({2}, {"pp"});
    const auto expect_stages = [&](int64_t chunks, const std::vector<int64_t>& cut,
                                   const std::vector<int>& stage) {
      models::Gpt model = small(7);
      shard(model, mesh, transformer_layout(model, mesh, {.chunks = chunks, .cut = cut}));
      EXPECT_EQ(model.num_chunks(), 2 * chunks);
      for (size_t i = 0; i < stage.size(); ++i) {
        const auto& weight = model.parameter_at("layer" + std::to_string(i) + ".up.weight");
        EXPECT_EQ(weight.initialized(), stage[i] == world.rank()) << i;
      }
      EXPECT_EQ(model.parameter_at("token_embedding").initialized(), world.rank() == 0);
      EXPECT_EQ(model.parameter_at("head").initialized(), world.rank() == 1);
    };
    expect_stages(1, {2, 5}, {0, 0, 1, 1, 1, 1, 1});
    expect_stages(1, {6, 1}, {0, 0, 0, 0, 0, 0, 1});
    expect_stages(2, {1, 3, 2, 1}, {0, 1, 1, 1, 0, 0, 1});
  });
}

TEST(Shard, ACutThatDoesNotFitIsAnError) {
  models::Gpt model = small(4);
  const ProcessMesh mesh({1}, {"pp"});
  constexpr int64_t kLarge = INT64_MAX;
  for (const std::vector<int64_t>& cut : std::vector<std::vector<int64_t>>{
           {4}, {1, 2}, {1, 4}, {0, 4}, {5, -1}, {1, 1, 2}, {kLarge, kLarge}}) {
    EXPECT_THAT(
        [&] { shard(model, mesh, transformer_layout(model, mesh, {.chunks = 2, .cut = cut})); },
        ThrowsError(ErrorCode::kInvalidArgument,
                    "does not fit: 4 links match 'layer*' and there are 2 chunks. Use one number "
                    "for each chunk, 1 or more, with the sum 4, such as [2, 2]."));
  }
  EXPECT_EQ(model.sharding(), nullptr);
}

TEST(Shard, MovesWhatIsLaidOutAlready) {
  distributed::run_ranks(2, [](distributed::World&) {
    models::Gpt model = small();
    const auto whole = [&](const char* name) {
      return distributed::gathered_everywhere(model.parameter_at(name)).to_vector<float>();
    };
    const ProcessMesh dp({2}, {"dp"});
    shard(model, dp, transformer_layout(model, dp));
    const auto before = whole("layer1.up.weight");
    const ProcessMesh tp({2}, {"tp"});
    shard(model, tp, transformer_layout(model, tp));
    EXPECT_EQ(whole("layer1.up.weight"), before);
    EXPECT_EQ(model.parameter_at("layer1.up.weight").placements()[0], Shard(1));
  });
}

TEST(Shard, WhatAPipelineCannotCutIsAnError) {
  class NoLinks final : public Layer {
   public:
    Tensor forward(const Tensor& x) const override { return x; }
  };
  NoLinks model;
  const ProcessMesh mesh({1}, {"pp"});
  EXPECT_THAT([&] { shard(model, mesh, Layout().pipeline("pp", "*")); },
              ThrowsError(ErrorCode::kInvalidArgument, "a pipeline splits an nn::Sequential"));
  models::Gpt gpt = small(2);
  EXPECT_THAT(
      [&] { shard(gpt, mesh, transformer_layout(gpt, mesh, {.chunks = 3})); },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "2 links match the pipeline's 'layer*', fewer than 1 stages of 3 chunks"));
  shard(gpt, mesh, transformer_layout(gpt, mesh));
  EXPECT_THAT([&] { gpt.add<Linear>("more", 2, 2); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "link 'more' is added to a model that is already sharded over a mesh"));
}

}  // namespace
}  // namespace phi::nn
