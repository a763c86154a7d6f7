// What rows meet, what is said of them, and what is wrong with them.
#include "api/nn/layout/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/nn/layout/parallelism.h"
#include "api/nn/layout/shard.h"
#include "api/nn/models/decoder.h"
#include "tests/support/error_matchers.h"

namespace phi::nn {
namespace {

using distributed::Partial;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;

models::Gpt small() {
  return models::Gpt({.seq_len = 4, .d_model = 8, .layers = 2, .heads = 2, .hidden = 16});
}

TEST(Layout, DescribesWhatItMeets) {
  const models::Gpt model = small();
  Layout layout;
  layout.batches({{"dp", Shard(0)}})
      .parameters("layer*.qkv.*", {{"tp", Shard(0)}})
      .parameters("layer?.qkv.weight", {{"tp", Shard(1)}})
      .outputs("layer1.mlp.down", {{"tp", Replicate()}})
      .pipeline("pp", "layer*", 1)
      .zero(2);
  const std::string table = layout.describe(model);
  const auto has = [&](const std::string& line) {
    EXPECT_NE(table.find(line), std::string::npos) << line << "\n" << table;
  };
  has("layer0.qkv.weight            [8,24]    tp=S1");  // the later row counts
  has("layer0.qkv.bias              [24]      tp=S0");
  has("layer0.up.weight             [8,16]    whole");
  has("layer1.mlp.down              outputs   dp=S0 tp=R");
  has("(model)                      pipeline  'layer*' along pp, 1 chunk per stage");
  has("(model)                      ZeRO      2 along dp");
}

TEST(Layout, DescribesACut) {
  EXPECT_THAT(stages("pp", "layer*", 1, {1, 1}).describe(small()),
              ::testing::HasSubstr("'layer*' along pp, 1 chunk per stage, cut [1, 1]"));
}

TEST(Layout, PartsAddUpToTheSuppliedLayout) {
  const models::Gpt model = small();
  for (const auto& dims :
       std::vector<std::vector<std::string>>{{"dp"}, {"tp"}, {"dp", "pp", "tp"}}) {
    const ProcessMesh mesh(std::vector<int64_t>(dims.size(), 1), dims);
    for (const bool sequence_parallel : {false, true}) {
      const Layout parts = data_parallel("dp", 3) + tensor_parallel("tp", sequence_parallel) +
                           stages("pp", "layer*", 2);
      const Layout whole = transformer_layout(
          model, mesh, {.sequence_parallel = sequence_parallel, .zero_stage = 3, .chunks = 2});
      const std::string table = parts.only_along(mesh).describe(model);
      EXPECT_EQ(table, whole.describe(model));
      const auto says = [&](const char* what) { return table.find(what) != std::string::npos; };
      const auto has = [&](const char* dim) { return std::ranges::count(dims, dim) > 0; };
      EXPECT_EQ(says("3 along dp"), has("dp")) << table;
      EXPECT_EQ(says("'layer*' along pp, 2 chunks per stage"), has("pp")) << table;
      EXPECT_EQ(says("tp=S1"), has("tp")) << table;
      EXPECT_TRUE(whole.tensor_parallel().empty());
    }
  }
}

// Two meshes leave what both have, in either order; one twice leaves what it leaves once.
TEST(Layout, OnlyAlongTakesOutForGood) {
  const models::Gpt model = small();
  const Layout whole = data_parallel("dp", 2) + tensor_parallel("tp", true) +
                       stages("pp", "layer*", 2) +
                       Layout().parameters("head", {{"tp", Shard(1)}, {"dp", Shard(0)}});
  const std::vector<std::string> all = {"dp", "tp", "pp"};
  const auto mesh_of = [&](unsigned dims) {  // a bit for each
    std::vector<std::string> names = {"other"};
    for (size_t d = 0; d < all.size(); ++d) {
      if (dims >> d & 1) names.push_back(all[d]);
    }
    const auto count = names.size();
    return ProcessMesh(std::vector<int64_t>(count, 1), std::move(names));
  };
  for (unsigned first = 0; first < 8; ++first) {
    for (unsigned second = 0; second < 8; ++second) {
      SCOPED_TRACE(mesh_of(first).to_string() + " and " + mesh_of(second).to_string());
      EXPECT_EQ(whole.only_along(mesh_of(first)).only_along(mesh_of(second)).describe(model),
                whole.only_along(mesh_of(first & second)).describe(model));
    }
  }
}

TEST(Layout, WhatModulesSayStandsAmongTheRows) {
  const models::Gpt model = small();
  const Layout own = Layout().parameters("layer0.up.weight", {{"tp", Replicate()}});
  const auto placed = [&](const Layout& layout) {
    const std::string table = layout.describe(model);
    const size_t at = table.find("layer0.up.weight");
    return table.substr(at, table.find('\n', at) - at);
  };
  EXPECT_THAT(placed(own + tensor_parallel()), ::testing::EndsWith("tp=S1"));
  EXPECT_THAT(placed(tensor_parallel() + own), ::testing::EndsWith("tp=R"));
}

TEST(Layout, ADimOfTensorParallelThatTheMeshHasNotIsAnError) {
  models::Gpt model = small();
  EXPECT_THAT([&] { shard(model, ProcessMesh({1}, {"tp"}), tensor_parallel("tq")); },
              ThrowsError(ErrorCode::kInvalidArgument, "tensor_parallel uses mesh dim 'tq'"));
}

TEST(Layout, ARowThatMeetsNothingIsAnErrorWithTheNearestNames) {
  models::Gpt model = small();
  const ProcessMesh mesh({1}, {"tp"});
  EXPECT_THAT([&] { shard(model, mesh, Layout().parameters("layer*.qkw.weight", {})); },
              ThrowsError(ErrorCode::kNotFound,
                          "the layout's parameters 'layer*.qkw.weight' match no name in the model; "
                          "nearest: layer0.qkv.weight"));
  EXPECT_THAT([&] { shard(model, mesh, Layout().outputs("layer0.qkv.weight", {})); },
              ThrowsError(ErrorCode::kNotFound, "the layout's outputs 'layer0.qkv.weight' match"));
  EXPECT_THAT([&] { shard(model, mesh, Layout().pipeline("tp", "block*")); },
              ThrowsError(ErrorCode::kNotFound, "the pipeline's 'block*' matches no link"));
}

TEST(Layout, OfAnotherMeshIsAnError) {
  models::Gpt model = small();
  const ProcessMesh mesh({1}, {"mp"});
  Layout layout;
  layout.parameters("head", {{"tp", Shard(1)}});
  EXPECT_THAT(
      [&] { shard(model, mesh, layout); },
      ThrowsError(
          ErrorCode::kInvalidArgument,
          "the layout's parameters 'head' uses mesh dim 'tp', which mesh(mp=1) does not have"));
  shard(model, mesh, layout.only_along(mesh));
  EXPECT_EQ(model.parameter_at("head").placements()[0], Replicate());
  EXPECT_THAT([&] { shard(model, mesh, Layout().zero(1, "dp")); },
              ThrowsError(ErrorCode::kInvalidArgument, "the layout's ZeRO uses mesh dim 'dp'"));
}

TEST(Layout, APlacementThatCannotBeIsAnError) {
  models::Gpt model = small();
  const ProcessMesh mesh({1}, {"tp"});
  EXPECT_THAT(
      [&] {
        shard(model, mesh, Layout().parameters("head", {{"tp", Shard(2)}}));
      },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "parameter 'head' of shape [8,256] to S2 along mesh dim 'tp'; use Replicate() or "
                  "Shard(0) to Shard(1)"));
  EXPECT_THAT(
      [&] {
        shard(model, mesh, Layout().parameters("head", {{"tp", Partial()}}));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "to P(sum) along mesh dim 'tp'"));
  for (const auto& [placement, text] :
       {std::pair{Shard(4), "S4"}, std::pair{Partial(), "P(sum)"}}) {
    EXPECT_THAT(
        [&] {
          shard(model, mesh, Layout().caches("layer0", {{"tp", placement}}));
        },
        ThrowsError(ErrorCode::kInvalidArgument,
                    std::string("sets the caches of 'layer0' to ") + text +
                        " along mesh dim 'tp'; use Replicate() or Shard(0) to Shard(3)."));
  }
  EXPECT_FALSE(model.parameter_at("head").is_dist());  // nothing was changed
  EXPECT_EQ(model.sharding(), nullptr);
}

TEST(Layout, NumbersOutOfRangeAreErrors) {
  EXPECT_THAT([] { Layout().zero(4); },
              ThrowsError(ErrorCode::kInvalidArgument, "ZeRO stage 4 does not exist"));
  EXPECT_THAT([] { Layout().pipeline("pp", "*", 0); },
              ThrowsError(ErrorCode::kInvalidArgument, "a pipeline with 0 chunks per stage"));
}

}  // namespace
}  // namespace phi::nn
