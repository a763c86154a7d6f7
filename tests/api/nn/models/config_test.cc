// model.json: what is written is read, and whatever else stands there is refused by name.
#include "api/nn/models/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "distributed/checkpoint/temporary_folder.h"
#include "support/error_matchers.h"

namespace phi::nn::models {
namespace {

using distributed::checkpoint::TemporaryFolder;
using Json = nlohmann::json;

const GptConfig kGpt{.vocab = 100,
                     .seq_len = 20,
                     .d_model = 48,
                     .layers = 3,
                     .heads = 4,
                     .hidden = 96,
                     .dropout = 0.25,
                     .norm_eps = 1e-6,
                     .tied_head = true};
const LlamaConfig kLlama{.vocab = 100,
                         .seq_len = 20,
                         .d_model = 48,
                         .layers = 3,
                         .heads = 4,
                         .kv_heads = 2,
                         .ffn = 80,
                         .rope_base = 500000,
                         .norm_eps = 1e-6,
                         .qkv_bias = true,
                         .tied_head = true};

TEST(ModelConfig, IsReadAsItWasWritten) {
  for (const ModelConfig& config : {ModelConfig(kGpt), ModelConfig(kLlama),
                                    ModelConfig(GptConfig()), ModelConfig(LlamaConfig())}) {
    EXPECT_EQ(from_json(to_json(config), "model.json"), config) << to_json(config);
    const TemporaryFolder folder;
    save_config((folder / "new").string(), config);
    EXPECT_EQ(load_config((folder / "new").string()), config);
  }
  EXPECT_EQ(to_json(kGpt),
            "{\n  \"kind\": \"gpt\",\n  \"vocab\": 100,\n  \"seq_len\": 20,\n  \"d_model\": 48,\n"
            "  \"layers\": 3,\n  \"heads\": 4,\n  \"hidden\": 96,\n"
            "  \"activation\": \"gelu_tanh\",\n  \"dropout\": 0.25,\n"
            "  \"norm_eps\": 1e-06,\n  \"tied_head\": true\n}\n");
}

TEST(ModelConfig, ChoicesHaveDefaultsAndSizesHaveNot) {
  Json json = Json::parse(to_json(kLlama));
  for (const char* key : {"rope_base", "norm_eps", "qkv_bias", "tied_head"}) json.erase(key);
  LlamaConfig expected = kLlama;
  expected.rope_base = 10000;
  expected.norm_eps = 1e-5;
  expected.qkv_bias = expected.tied_head = false;
  EXPECT_EQ(from_json(json.dump(), "x"), ModelConfig(expected));
  json.erase("kv_heads");
  EXPECT_THAT(
      [&] { from_json(json.dump(), "ckpt/model.json"); },
      ThrowsError(ErrorCode::kInvalidArgument, "'ckpt/model.json': the config has no 'kv_heads'"));
}

TEST(ModelConfig, WhatIsWrongIsNamed) {
  const auto refused = [](const ModelConfig& base, const char* key, const Json& value,
                          const std::string& message) {
    Json json = Json::parse(to_json(base));
    json[key] = value;
    EXPECT_THAT([&] { from_json(json.dump(), "ckpt/model.json"); },
                ThrowsError(ErrorCode::kInvalidArgument, "'ckpt/model.json': " + message));
  };
  refused(kLlama, "kind", "lama", "'kind' is 'lama'; it must be 'gpt' or 'llama'");
  refused(kLlama, "kv_head", 2, "there is no key 'kv_head', did you mean 'kv_heads'?");
  refused(kGpt, "kv_heads", 2, "there is no key 'kv_heads'");
  refused(kGpt, "zzz", 2,
          "there is no key 'zzz' (the keys of gpt are kind, vocab, seq_len, d_model,");
  refused(kLlama, "heads", "4", "'heads' is not a whole number");
  refused(kLlama, "heads", 0, "'heads' is 0; it must be from 1 to 16777216");
  refused(kLlama, "vocab", 1 << 25, "'vocab' is 33554432; it must be from 1 to");
  refused(kLlama, "heads", 5, "'heads' 5 does not divide 'd_model' 48");
  refused(kLlama, "kv_heads", 3, "'kv_heads' 3 does not divide 'heads' 4");
  refused(kLlama, "d_model", 12, "the head size 3 ('d_model' 12 / 'heads' 4) is odd");
  refused(kLlama, "rope_base", 0.5, "'rope_base' is 0.5; it must be from 1 to 1e12");
  refused(kLlama, "norm_eps", -1, "'norm_eps' is -1; it must be from 0 to 1");
  refused(kLlama, "norm_eps", "x", "'norm_eps' is not a number");
  refused(kLlama, "qkv_bias", 1, "'qkv_bias' is not true or false");
  refused(kGpt, "dropout", 1.0, "'dropout' is 1; it must be from 0 to below 1");
  EXPECT_THAT([] { from_json("{\"kind\": ", "ckpt/model.json"); },
              ThrowsError(ErrorCode::kInvalidArgument, "'ckpt/model.json' is not valid JSON"));
  EXPECT_THAT([] { from_json("[]", "x"); },
              ThrowsError(ErrorCode::kInvalidArgument, "the config is not a JSON object"));
  EXPECT_THAT([] { load_config("/nowhere"); }, ThrowsError(ErrorCode::kNotFound, "model.json"));
}

TEST(ModelConfig, DifferencesNameEachKeyWithBothValues) {
  EXPECT_EQ(differences(kGpt, kGpt, "x"), "");
  EXPECT_EQ(differences(kGpt, kLlama, "'x'"), "\n  the model is a gpt; 'x' is a llama");
  LlamaConfig other = kLlama;
  other.kv_heads = 4;
  other.rope_base = 10000;
  other.tied_head = false;
  EXPECT_EQ(
      differences(kLlama, other, "'x'"),
      "\n  'kv_heads' of the model is 2; in 'x' it is 4\n  'rope_base' of the model is 500000.0; "
      "in 'x' it is 10000.0\n  'tied_head' of the model is true; in 'x' it is false");
  // A Llama may be used for shorter texts; a GPT has learned each position.
  other = kLlama;
  other.seq_len = 30;
  EXPECT_EQ(differences(kLlama, other, "x"), "");
  EXPECT_EQ(differences(other, kLlama, "x"), "\n  'seq_len' of the model is 30; in x it is 20");
  GptConfig longer = kGpt;
  longer.seq_len = 30;
  longer.dropout = 0;
  EXPECT_EQ(differences(kGpt, longer, "x"), "\n  'seq_len' of the model is 20; in x it is 30");
}

}  // namespace
}  // namespace phi::nn::models
