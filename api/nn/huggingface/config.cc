// Keys of config.json by architecture. Their meanings and defaults are those of the configuration_*
// files of transformers 5.23.
#include "api/nn/huggingface/config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "api/nn/huggingface/config_keys.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"

namespace phi::nn::huggingface {
namespace {

using distributed::checkpoint::Json;
using models::GptConfig;
using models::LlamaConfig;

struct ConfigNames {
  Architecture architecture;
  const char* name;
  const char* model_type;
};
constexpr std::array<ConfigNames, 4> kNames = {{
    {Architecture::kGpt2, "GPT2LMHeadModel", "gpt2"},
    {Architecture::kLlama, "LlamaForCausalLM", "llama"},
    {Architecture::kMistral, "MistralForCausalLM", "mistral"},
    {Architecture::kQwen2, "Qwen2ForCausalLM", "qwen2"},
}};

const ConfigNames& names_of(Architecture architecture) {
  return *std::ranges::find(kNames, architecture, &ConfigNames::architecture);
}

// Our keys mapped to theirs, for messages.
const models::KeyNames kGptKeys = {{"vocab", "vocab_size"},    {"seq_len", "n_positions"},
                                   {"d_model", "n_embd"},      {"layers", "n_layer"},
                                   {"heads", "n_head"},        {"hidden", "n_inner"},
                                   {"dropout", "resid_pdrop"}, {"norm_eps", "layer_norm_epsilon"}};
const models::KeyNames kLlamaKeys = {
    {"vocab", "vocab_size"},          {"seq_len", "max_position_embeddings"},
    {"d_model", "hidden_size"},       {"layers", "num_hidden_layers"},
    {"heads", "num_attention_heads"}, {"kv_heads", "num_key_value_heads"},
    {"ffn", "intermediate_size"},     {"rope_base", "rope_theta"},
    {"norm_eps", "rms_norm_eps"}};

// Keys that do not change the outputs for given ids: initialisation, tokenisation, and how
// transformers runs the model.
const std::set<std::string_view> kHarmless = {"_name_or_path",
                                              "architectures",
                                              "attn_implementation",
                                              "bos_token_id",
                                              "dtype",
                                              "eos_token_id",
                                              "id2label",
                                              "initializer_range",
                                              "label2id",
                                              "max_window_layers",
                                              "model_type",
                                              "n_ctx",
                                              "output_attentions",
                                              "output_hidden_states",
                                              "pad_token_id",
                                              "pretraining_tp",
                                              "return_dict",
                                              "summary_activation",
                                              "summary_first_dropout",
                                              "summary_proj_to_labels",
                                              "summary_type",
                                              "summary_use_proj",
                                              "task_specific_params",
                                              "tokenizer_class",
                                              "torch_dtype",
                                              "transformers_version",
                                              "use_cache"};

Architecture read_architecture(ConfigKeys* keys) {
  const std::vector<std::string> names = keys->texts("architectures");
  PHI_CHECK(names.size() == 1,
            errors::InvalidArgument("'{}': 'architectures' must have one name; it has {}.",
                                    keys->path(), names.size()));
  Architecture architecture{};
  try {
    architecture = architecture_of_name(names[0]);
  } catch (const Error& error) {
    throw errors::InvalidArgument("'{}': {}", keys->path(), error.what());
  }
  // transformers selects the architecture by this key.
  keys->allow("model_type", {names_of(architecture).model_type},
              fmt::format("a type other than that of {}", names[0]));
  return architecture;
}

// The base of rotary positions, from any of the keys where versions of transformers store it.
double read_rope_base(ConfigKeys* keys) {
  std::vector<double> bases;
  if (keys->has("rope_theta")) bases.push_back(keys->number("rope_theta"));
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    std::optional<ConfigKeys> rope = keys->within(name);
    if (!rope) continue;
    rope->allow("rope_type", {"default"}, "a rope scaling");
    rope->allow("type", {"default"}, "a rope scaling");
    rope->allow("partial_rotary_factor", {1.0}, "rotation of only a part of each head");
    if (rope->has("rope_theta")) bases.push_back(rope->number("rope_theta"));
    for (const std::string& key : rope->others({})) rope->refuse(key, "a rope scaling");
  }
  keys->allow("partial_rotary_factor", {1.0}, "rotation of only a part of each head");
  for (double base : bases) {
    PHI_CHECK(base == bases[0],
              errors::InvalidArgument("'{}': 'rope_theta' has two values, {} and {}.", keys->path(),
                                      bases[0], base));
  }
  return bases.empty() ? LlamaConfig().rope_base : bases[0];
}

GptConfig read_gpt(ConfigKeys* keys, std::vector<std::string>* notes) {
  GptConfig model;
  model.vocab = keys->size("vocab_size");
  model.seq_len = keys->size("n_positions");
  model.d_model = keys->size("n_embd");
  model.layers = keys->size("n_layer");
  model.heads = keys->size("n_head");
  model.hidden = keys->size("n_inner", 4 * std::min(model.d_model, int64_t{1} << 32));
  model.dropout = keys->number("resid_pdrop", 0.1);
  model.norm_eps = keys->number("layer_norm_epsilon", 1e-5);
  model.tied_head = keys->flag("tie_word_embeddings", true);
  models::check(model, fmt::format("'{}'", keys->path()), kGptKeys);
  keys->allow("activation_function", {"gelu_new", "gelu_pytorch_tanh"},
              "an activation other than GELU with the tanh approximation");
  keys->allow("scale_attn_weights", {true}, "attention without scaling");
  keys->allow("scale_attn_by_inverse_layer_idx", {false}, "a different scale in each layer");
  keys->allow("reorder_and_upcast_attn", {false}, "attention in a different precision");
  keys->allow("add_cross_attention", {false}, "cross-attention");
  const double on_embeddings = keys->number("embd_pdrop", 0.1);
  const double on_attention = keys->number("attn_pdrop", 0.1);
  if (on_embeddings != model.dropout || on_attention != 0) {
    notes->push_back(
        fmt::format("'embd_pdrop' {} and 'attn_pdrop' {} are ignored in training: dropout is "
                    "'resid_pdrop' {}, of embeddings and residual branches",
                    on_embeddings, on_attention, model.dropout));
  }
  return model;
}

void check_window(ConfigKeys* keys, int64_t window, int64_t positions) {
  if (window >= positions) return;
  throw errors::InvalidArgument(
      "'{}': 'sliding_window' is {}, and 'max_position_embeddings' {}: sliding-window attention is "
      "not supported. For sequences of up to {} positions, which the window does not truncate, set "
      "'max_position_embeddings' to this number.",
      keys->path(), window, positions, window);
}

void check_attention(ConfigKeys* keys, Architecture architecture, const LlamaConfig& model) {
  keys->allow("head_dim", {model.head_size()},
              "a head size other than hidden_size / num_attention_heads");
  keys->allow("attention_dropout", {0.0}, "attention dropout");
  // The query, key and value biases of Qwen2 have no key.
  keys->allow("attention_bias", {false}, "attention with these biases");
  for (const std::string& type : keys->texts("layer_types")) {
    if (type != "full_attention") keys->refuse("layer_types", "a layer of another type");
  }
  if (architecture == Architecture::kMistral && !keys->is_null("sliding_window")) {
    check_window(keys, keys->size("sliding_window", 4096), model.seq_len);
  }
  if (architecture == Architecture::kQwen2) {
    const int64_t window = keys->size("sliding_window", 4096);
    keys->allow("use_mrope", {false}, "multi-dimensional rotary positions");
    if (keys->flag("use_sliding_window", false)) check_window(keys, window, model.seq_len);
  }
}

LlamaConfig read_llama(ConfigKeys* keys, Architecture architecture) {
  LlamaConfig model;
  model.vocab = keys->size("vocab_size");
  model.seq_len = keys->size("max_position_embeddings");
  model.d_model = keys->size("hidden_size");
  model.layers = keys->size("num_hidden_layers");
  model.heads = keys->size("num_attention_heads");
  // Only a Llama defaults to as many key-value heads as heads.
  model.kv_heads = architecture == Architecture::kLlama
                       ? keys->size("num_key_value_heads", model.heads)
                       : keys->size("num_key_value_heads");
  model.ffn = keys->size("intermediate_size");
  model.rope_base = read_rope_base(keys);
  model.norm_eps = keys->number("rms_norm_eps");
  model.qkv_bias = architecture == Architecture::kQwen2;
  model.tied_head = keys->flag("tie_word_embeddings", false);
  models::check(model, fmt::format("'{}'", keys->path()), kLlamaKeys);
  keys->allow("hidden_act", {"silu", "swish"}, "an activation other than silu");
  keys->allow("mlp_bias", {false}, "an MLP with biases");
  check_attention(keys, architecture, model);
  return model;
}

DataType read_dtype(ConfigKeys* keys) {
  const std::string name = keys->text("dtype", keys->text("torch_dtype", ""));
  for (DataType dtype :
       {DataType::FLOAT32, DataType::BFLOAT16, DataType::FLOAT16, DataType::FLOAT64}) {
    if (name == phi::name_of(dtype)) return dtype;
  }
  return DataType::UNDEFINED;
}

Json keys_of(const GptConfig& model) {
  return {{"vocab_size", model.vocab},
          {"n_positions", model.seq_len},
          {"n_embd", model.d_model},
          {"n_layer", model.layers},
          {"n_head", model.heads},
          {"n_inner", model.hidden},
          {"activation_function", "gelu_new"},
          {"resid_pdrop", model.dropout},
          {"embd_pdrop", model.dropout},
          {"attn_pdrop", 0.0},
          {"layer_norm_epsilon", model.norm_eps}};
}

Json keys_of(const LlamaConfig& model) {
  return {{"vocab_size", model.vocab},          {"max_position_embeddings", model.seq_len},
          {"hidden_size", model.d_model},       {"num_hidden_layers", model.layers},
          {"num_attention_heads", model.heads}, {"num_key_value_heads", model.kv_heads},
          {"intermediate_size", model.ffn},     {"hidden_act", "silu"},
          {"rope_theta", model.rope_base},      {"rms_norm_eps", model.norm_eps}};
}

bool fits(const GptConfig&, Architecture architecture) {
  return architecture == Architecture::kGpt2;
}

bool fits(const LlamaConfig& model, Architecture architecture) {
  return architecture != Architecture::kGpt2 &&
         model.qkv_bias == (architecture == Architecture::kQwen2);
}

}  // namespace

std::string_view name_of(Architecture architecture) { return names_of(architecture).name; }

Architecture architecture_of_name(std::string_view name) {
  std::vector<std::string> known;
  for (const ConfigNames& names : kNames) {
    if (name == names.name) return names.architecture;
    known.emplace_back(names.name);
  }
  throw errors::InvalidArgument(
      "the architecture '{}' is not one of {}{}", name, fmt::join(known, ", "),
      did_you_mean(name, known).empty() ? "." : did_you_mean(name, known));
}

Architecture architecture_of(const models::ModelConfig& model) {
  const auto* llama = std::get_if<LlamaConfig>(&model);
  if (!llama) return Architecture::kGpt2;
  return llama->qkv_bias ? Architecture::kQwen2 : Architecture::kLlama;
}

Config decode_config(std::string_view text, const std::string& path) {
  ConfigKeys keys(path, text);
  Config config{read_architecture(&keys), {}};
  keys.allow("quantization_config", {}, "a quantized model");
  keys.allow("is_encoder_decoder", {false}, "an encoder");
  if (config.architecture == Architecture::kGpt2) {
    config.model = read_gpt(&keys, &config.notes);
  } else {
    config.model = read_llama(&keys, config.architecture);
  }
  config.dtype = read_dtype(&keys);
  for (const std::string& key : keys.others(kHarmless)) {
    config.notes.push_back(fmt::format("'{}' is unknown and ignored", key));
  }
  return config;
}

Config read_config(const std::string& path) {
  return decode_config(distributed::checkpoint::read_text(path), path);
}

std::string encode_config(const Config& config) {
  const ConfigNames& names = names_of(config.architecture);
  PHI_CHECK(
      std::visit([&](const auto& model) { return fits(model, config.architecture); }, config.model),
      errors::InvalidArgument(
          "a {} {} biases of queries, keys and values is not a {}; it is a {}.",
          kind_of(config.model),
          architecture_of(config.model) == Architecture::kLlama ? "without" : "with", names.name,
          name_of(architecture_of(config.model))));
  if (const auto* gpt = std::get_if<GptConfig>(&config.model)) {
    PHI_CHECK(gpt->activation == models::kDefaultActivation,
              errors::InvalidArgument(
                  "'activation' is '{}'; a {} uses GELU with the tanh approximation ('{}').",
                  gpt->activation, names.name, models::kDefaultActivation));
  }
  Json json = std::visit([](const auto& model) { return keys_of(model); }, config.model);
  json["architectures"] = Json::array({names.name});
  json["model_type"] = names.model_type;
  json["tie_word_embeddings"] =
      std::visit([](const auto& model) { return model.tied_head; }, config.model);
  if (config.dtype != DataType::UNDEFINED) json["torch_dtype"] = phi::name_of(config.dtype);
  // These override defaults of transformers.
  json["bos_token_id"] = nullptr;
  json["eos_token_id"] = nullptr;
  if (config.architecture == Architecture::kMistral) json["sliding_window"] = nullptr;
  return json.dump(2) + "\n";
}

}  // namespace phi::nn::huggingface
