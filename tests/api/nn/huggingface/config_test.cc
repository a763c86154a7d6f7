// config.json: what is followed, what is refused by name and value, and what is written.
#include "api/nn/huggingface/config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "random_weights.h"
#include "support/error_matchers.h"

namespace phi::nn::huggingface {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

const models::LlamaConfig kModel{.vocab = 100,
                                 .seq_len = 64,
                                 .d_model = 48,
                                 .layers = 3,
                                 .heads = 4,
                                 .kv_heads = 2,
                                 .ffn = 80,
                                 .rope_base = 5000,
                                 .norm_eps = 1e-6};

// As transformers 4 writes a Llama.
Json llama() {
  return {{"architectures", Json::array({"LlamaForCausalLM"})},
          {"model_type", "llama"},
          {"vocab_size", 100},
          {"max_position_embeddings", 64},
          {"hidden_size", 48},
          {"num_hidden_layers", 3},
          {"num_attention_heads", 4},
          {"num_key_value_heads", 2},
          {"intermediate_size", 80},
          {"rope_theta", 5000.0},
          {"rope_scaling", nullptr},
          {"rms_norm_eps", 1e-6},
          {"hidden_act", "silu"},
          {"attention_bias", false},
          {"tie_word_embeddings", false},
          {"torch_dtype", "bfloat16"},
          {"bos_token_id", 1},
          {"use_cache", true}};
}

Json mistral() {
  Json json = llama();
  json.update({{"architectures", Json::array({"MistralForCausalLM"})},
               {"model_type", "mistral"},
               {"sliding_window", nullptr}});
  return json;
}

Json qwen2() {
  Json json = llama();
  json.update({{"architectures", Json::array({"Qwen2ForCausalLM"})},
               {"model_type", "qwen2"},
               {"use_sliding_window", false},
               {"sliding_window", 32}});
  return json;
}

// As the folder of the first GPT-2 has it.
Json gpt2() {
  return {{"architectures", Json::array({"GPT2LMHeadModel"})},
          {"model_type", "gpt2"},
          {"vocab_size", 100},
          {"n_positions", 64},
          {"n_ctx", 64},
          {"n_embd", 48},
          {"n_layer", 3},
          {"n_head", 4},
          {"activation_function", "gelu_new"},
          {"attn_pdrop", 0.1},
          {"embd_pdrop", 0.1},
          {"resid_pdrop", 0.1},
          {"layer_norm_epsilon", 1e-5},
          {"task_specific_params", {{"text-generation", {{"max_length", 50}}}}}};
}

Config decode(const Json& json) { return decode_config(json.dump(), "m/config.json"); }

Json with(Json json, const char* key, const Json& value) {
  json[key] = value;
  return json;
}

Json without(Json json, const char* key) {
  json.erase(key);
  return json;
}

TEST(HuggingFaceConfig, ALlamaIsRead) {
  const Config config = decode(llama());
  EXPECT_EQ(config.architecture, Architecture::kLlama);
  EXPECT_EQ(config.model, models::ModelConfig(kModel));
  EXPECT_EQ(config.dtype, DataType::BFLOAT16);
  EXPECT_THAT(config.notes, IsEmpty());
}

TEST(HuggingFaceConfig, RopeMayBeWrittenInTheNewerWay) {
  const Json rope = {{"rope_theta", 5000.0}, {"rope_type", "default"}};
  Json json =
      with(without(without(llama(), "rope_theta"), "rope_scaling"), "rope_parameters", rope);
  json["dtype"] = "float16";
  json.erase("torch_dtype");
  const Config config = decode(json);
  EXPECT_EQ(config.model, models::ModelConfig(kModel));
  EXPECT_EQ(config.dtype, DataType::FLOAT16);
  EXPECT_EQ(decode(with(llama(), "rope_parameters", rope)).model, config.model) << "said twice";
  EXPECT_EQ(decode(with(llama(), "rope_scaling", {{"type", "default"}})).model, config.model);
}

TEST(HuggingFaceConfig, WhatIsMissingIsAsTransformersHasIt) {
  Json json = llama();
  for (const char* key : {"num_key_value_heads", "rope_theta", "rope_scaling", "hidden_act",
                          "tie_word_embeddings", "torch_dtype"}) {
    json.erase(key);
  }
  models::LlamaConfig expected = kModel;
  expected.kv_heads = 4;
  expected.rope_base = 10000;
  EXPECT_EQ(decode(json).model, models::ModelConfig(expected));
  EXPECT_EQ(decode(json).dtype, DataType::UNDEFINED);
}

TEST(HuggingFaceConfig, AMistralAndAQwen2AreLlamas) {
  EXPECT_EQ(decode(mistral()).model, models::ModelConfig(kModel));
  EXPECT_EQ(decode(with(mistral(), "sliding_window", 64)).model, models::ModelConfig(kModel));
  models::LlamaConfig biased = kModel;
  biased.qkv_bias = true;
  EXPECT_EQ(decode(qwen2()).model, models::ModelConfig(biased));
  biased.tied_head = true;
  EXPECT_EQ(decode(with(qwen2(), "tie_word_embeddings", true)).model, models::ModelConfig(biased));
}

TEST(HuggingFaceConfig, AWindowThatHidesAPositionIsRefused) {
  const Json windowed = with(qwen2(), "use_sliding_window", true);
  for (const Json& model : {mistral(), windowed}) {
    for (const int64_t window : {64, 65, 4096}) {
      EXPECT_NO_THROW(decode(with(model, "sliding_window", window))) << window;
    }
    for (const int64_t window : {1, 62, 63}) {
      EXPECT_THAT([&] { decode(with(model, "sliding_window", window)); },
                  ThrowsError(ErrorCode::kInvalidArgument,
                              fmt::format("'sliding_window' is {}, and", window)));
    }
  }
}

TEST(HuggingFaceConfig, AGpt2IsRead) {
  const models::GptConfig expected{.vocab = 100,
                                   .seq_len = 64,
                                   .d_model = 48,
                                   .layers = 3,
                                   .heads = 4,
                                   .hidden = 192,
                                   .dropout = 0.1,
                                   .norm_eps = 1e-5,
                                   .tied_head = true};
  const Config config = decode(gpt2());
  EXPECT_EQ(config.model, models::ModelConfig(expected));
  EXPECT_THAT(config.notes, ElementsAre(HasSubstr("'attn_pdrop' 0.1 are ignored in training")));
  Json json = with(with(gpt2(), "attn_pdrop", 0.0), "n_inner", 60);
  json["tie_word_embeddings"] = false;
  models::GptConfig other = expected;
  other.hidden = 60;
  other.tied_head = false;
  EXPECT_EQ(decode(json).model, models::ModelConfig(other));
  EXPECT_THAT(decode(json).notes, IsEmpty());
}

TEST(HuggingFaceConfig, KeysThatNobodyKnowsAreTold) {
  EXPECT_THAT(decode(with(llama(), "unsloth_version", "1")).notes,
              ElementsAre("'unsloth_version' is unknown and ignored"));
}

TEST(HuggingFaceConfig, WhatIsNotSupportedIsRefusedByNameAndValue) {
  const auto refused = [](const Json& json, const std::string& message) {
    EXPECT_THAT([&] { decode(json); },
                ThrowsError(ErrorCode::kInvalidArgument, "'m/config.json': " + message));
  };
  const Json llama3 = {{"rope_type", "llama3"}, {"factor", 8.0}};
  refused(with(llama(), "rope_scaling", llama3),
          "'rope_scaling.rope_type' is \"llama3\": a rope scaling is not supported");
  refused(with(llama(), "rope_scaling", {{"type", "linear"}, {"factor", 2.0}}),
          "'rope_scaling.type' is \"linear\"");
  refused(with(llama(), "rope_parameters", llama3), "'rope_parameters.rope_type' is \"llama3\"");
  refused(with(llama(), "rope_parameters", {{"rope_type", "default"}, {"factor", 2.0}}),
          "'rope_parameters.factor' is 2.0");
  refused(with(llama(), "rope_parameters", {{"rope_theta", 10000.0}}),
          "'rope_theta' has two values, 5000 and 10000");
  refused(with(llama(), "rope_parameters", "default"), "'rope_parameters' is not a JSON object");
  refused(with(llama(), "partial_rotary_factor", 0.5), "'partial_rotary_factor' is 0.5");
  refused(with(llama(), "head_dim", 16),
          "'head_dim' is 16: a head size other than hidden_size / num_attention_heads");
  refused(with(llama(), "attention_bias", true), "'attention_bias' is true");
  refused(with(llama(), "mlp_bias", true), "'mlp_bias' is true");
  refused(with(llama(), "attention_dropout", 0.1), "'attention_dropout' is 0.1");
  refused(with(llama(), "hidden_act", "gelu"),
          "'hidden_act' is \"gelu\": an activation other than silu is not supported");
  refused(with(llama(), "quantization_config", {{"bits", 4}}),
          "'quantization_config' is {\"bits\":4}");
  refused(with(mistral(), "sliding_window", 32),
          "'sliding_window' is 32, and 'max_position_embeddings' 64");
  refused(with(without(mistral(), "sliding_window"), "max_position_embeddings", 32768),
          "'sliding_window' is 4096, and 'max_position_embeddings' 32768");
  refused(with(qwen2(), "use_sliding_window", true), "'sliding_window' is 32");
  refused(with(qwen2(), "layer_types", {"full_attention", "sliding_attention"}),
          "'layer_types' is [\"full_attention\",\"sliding_attention\"]");
  refused(with(qwen2(), "use_mrope", true), "'use_mrope' is true");
  refused(with(gpt2(), "activation_function", "relu"), "'activation_function' is \"relu\"");
  refused(with(gpt2(), "scale_attn_weights", false), "'scale_attn_weights' is false");
  refused(with(gpt2(), "scale_attn_by_inverse_layer_idx", true),
          "'scale_attn_by_inverse_layer_idx' is true");
  refused(with(gpt2(), "reorder_and_upcast_attn", true), "'reorder_and_upcast_attn' is true");
  refused(with(gpt2(), "add_cross_attention", true), "'add_cross_attention' is true");
}

TEST(HuggingFaceConfig, WhatIsWrongIsNamed) {
  const auto refused = [](const Json& json, const std::string& message) {
    EXPECT_THAT([&] { decode(json); },
                ThrowsError(ErrorCode::kInvalidArgument, "'m/config.json': " + message));
  };
  refused(with(llama(), "architectures", {"LlamaForCausalML"}),
          "the architecture 'LlamaForCausalML' is not one of GPT2LMHeadModel, LlamaForCausalLM, "
          "MistralForCausalLM, Qwen2ForCausalLM, did you mean 'LlamaForCausalLM'?");
  refused(with(llama(), "architectures", {"A", "B"}),
          "'architectures' must have one name; it has 2");
  refused(without(llama(), "architectures"), "'architectures' must have one name; it has 0");
  refused(with(llama(), "model_type", "mistral"), "'model_type' is \"mistral\"");
  refused(without(llama(), "hidden_size"), "there is no 'hidden_size'");
  refused(without(mistral(), "num_key_value_heads"), "there is no 'num_key_value_heads'");
  refused(with(llama(), "hidden_size", "48"), "'hidden_size' is not a whole number");
  refused(with(llama(), "hidden_size", -48), "'hidden_size' is not a whole number");
  refused(with(llama(), "num_attention_heads", 0), "'num_attention_heads' is 0; it must be from 1");
  refused(with(llama(), "num_attention_heads", 5),
          "'num_attention_heads' 5 does not divide 'hidden_size' 48");
  refused(with(llama(), "num_key_value_heads", 3),
          "'num_key_value_heads' 3 does not divide 'num_attention_heads' 4");
  refused(with(gpt2(), "n_embd", int64_t{1} << 62), "'n_embd' is 4611686018427387904; it must be");
  refused(with(gpt2(), "tie_word_embeddings", 1), "'tie_word_embeddings' is not true or false");
  EXPECT_THAT([] { decode_config("{", "m/config.json"); },
              ThrowsError(ErrorCode::kInvalidArgument, "'m/config.json' is not valid JSON"));
}

TEST(HuggingFaceConfig, IsReadAsItWasWritten) {
  for (Config config : small_models()) {
    config.dtype = DataType::FLOAT16;
    const Config back = decode_config(encode_config(config), "x");
    EXPECT_EQ(back.architecture, config.architecture);
    EXPECT_EQ(back.model, config.model) << encode_config(config);
    EXPECT_EQ(back.dtype, config.dtype);
    EXPECT_THAT(back.notes, IsEmpty()) << encode_config(config);
  }
}

TEST(HuggingFaceConfig, AnActivationThatTheArchitectureLacksIsRefused) {
  models::GptConfig gpt;
  gpt.activation = "relu";
  EXPECT_THAT(
      [&] {
        encode_config({Architecture::kGpt2, gpt});
      },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "'activation' is 'relu'; a GPT2LMHeadModel uses GELU"));
}

TEST(HuggingFaceConfig, AnArchitectureOfOtherModelsIsRefused) {
  models::LlamaConfig biased = kModel;
  biased.qkv_bias = true;
  EXPECT_EQ(architecture_of(kModel), Architecture::kLlama);
  EXPECT_EQ(architecture_of(biased), Architecture::kQwen2);
  EXPECT_EQ(architecture_of(models::GptConfig()), Architecture::kGpt2);
  EXPECT_THAT(
      [&] {
        encode_config({Architecture::kMistral, biased});
      },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "a llama with biases of queries, keys and values is not a MistralForCausalLM; it "
                  "is a Qwen2ForCausalLM"));
  EXPECT_THAT(
      [&] {
        encode_config({Architecture::kQwen2, kModel});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "a llama without biases"));
  EXPECT_THAT(
      [&] {
        encode_config({Architecture::kGpt2, kModel});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "is not a GPT2LMHeadModel"));
}

}  // namespace
}  // namespace phi::nn::huggingface
