// Models saved on one mesh and loaded on another, buffers too; and what does not fit.
#include "api/nn/checkpoint.h"

#include <gtest/gtest.h>

#include "api/generated/ops/full.h"
#include "api/generated/ops/split.h"
#include "api/nn/convert_weights.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layout/shard.h"
#include "api/nn/models/model_checkpoint.h"
#include "distributed/api.h"
#include "distributed/checkpoint/temporary_folder.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"

namespace phi::nn {
namespace {

using distributed::ProcessMesh;
using distributed::checkpoint::TemporaryFolder;

class Net final : public Layer {
 public:
  explicit Net(const char* name = "product", double mask = 0.0) : product(*this, name, 4, 6) {
    buffer("mask", full({6}, mask));
  }
  Tensor forward(const Tensor& x) const override { return product(x); }
  Linear product;
};

Layout split() { return Layout().parameters("product.weight", {{"tp", distributed::Shard(1)}}); }

std::vector<std::vector<float>> whole_values(const Module& model) {
  NamedTensors all = model.named_parameters();
  for (const auto& buffer : model.named_buffers()) all.push_back(buffer);
  std::vector<std::vector<float>> out;
  for (const auto& [name, value] : all) {
    const Tensor whole = value.is_dist() ? distributed::gathered_everywhere(value) : value;
    out.push_back(whole.to_vector<float>());
  }
  return out;
}

TEST(SaveAndLoad, GoFromMeshToMeshWithBuffers) {
  const TemporaryFolder folder;
  Net saved("product", 3.0);
  saved.initialise(7);
  const auto expected = whole_values(saved);
  distributed::run_ranks(2, [&](distributed::World&) {
    Net net("product", 3.0);
    net.initialise(7);
    shard(net, ProcessMesh({2}, {"tp"}), split());
    save(folder.path(), net);
  });
  Net plain;
  EXPECT_NE(whole_values(plain), expected);
  load(distributed::checkpoint::open(folder.path()), &plain);
  EXPECT_EQ(whole_values(plain), expected);
  distributed::run_ranks(3, [&](distributed::World&) {
    Net net;
    shard(net, ProcessMesh({3}, {"tp"}), split());
    load(distributed::checkpoint::open(folder.path()), &net);
    EXPECT_EQ(net.parameter_at("product.weight").nbytes_here(), 4u * 2 * 4);
    EXPECT_EQ(whole_values(net), expected);
  });
}

TEST(SaveAndLoad, WhatDoesNotFitIsOneErrorAndNothingIsChanged) {
  const TemporaryFolder folder;
  save(folder.path(), Net());
  Net other("produkt", 5.0);
  const auto before = whole_values(other);
  EXPECT_THAT([&] { load(distributed::checkpoint::open(folder.path()), &other); },
              ThrowsError(ErrorCode::kInvalidArgument, "produkt.weight"));
  EXPECT_EQ(whole_values(other), before);
}

TEST(SaveAndLoad, AModelOfTheLibraryHasItsConfigBesideIt) {
  const TemporaryFolder folder;
  models::Llama model({.vocab = 12,
                       .seq_len = 4,
                       .d_model = 8,
                       .layers = 1,
                       .heads = 2,
                       .kv_heads = 1,
                       .ffn = 12,
                       .qkv_bias = true,
                       .tied_head = true});
  model.initialise(9);
  models::save(folder.path(), model);
  const auto same = models::load(folder.path());
  EXPECT_EQ(same->config(), model.config());
  EXPECT_EQ(whole_values(*same), whole_values(model));
}

TEST(SaveAndLoad, WeightsOfAModelWithOtherHeadsAreRefused) {
  const TemporaryFolder folder;
  models::LlamaConfig config{
      .vocab = 12, .seq_len = 4, .d_model = 8, .layers = 1, .heads = 2, .kv_heads = 2, .ffn = 12};
  models::Llama model(config);
  model.initialise(9);
  models::save(folder.path(), model, {.metadata = {{"step", "3"}}});
  const auto saved = distributed::checkpoint::open(folder.path());
  EXPECT_EQ(saved.metadata().at("step"), "3");
  models::check_model(saved, config);
  config.heads = config.kv_heads = 4;  // the same shapes
  const std::string faults = "\n  'heads' of the model is 4; in the metadata of '" + folder.path() +
                             "' it is 2\n  'kv_heads' of the model is 4; in";
  EXPECT_THAT([&] { models::check_model(saved, config); },
              ThrowsError(ErrorCode::kInvalidArgument, faults));
  EXPECT_THAT([&] { models::check_model(saved, models::GptConfig()); },
              ThrowsError(ErrorCode::kInvalidArgument, "the model is a gpt"));
  models::save_config(folder.path(), config);
  EXPECT_THAT([&] { models::load(folder.path()); },
              ThrowsError(ErrorCode::kInvalidArgument, faults));
  std::filesystem::remove(folder / models::kConfigFile);
  EXPECT_THAT([&] { open_weights(folder.path(), config); },
              ThrowsError(ErrorCode::kInvalidArgument, faults));
}

}  // namespace
}  // namespace phi::nn
