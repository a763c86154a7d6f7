// What a model is: sizes and choices, without values, seeds, dtypes and meshes.
//
//   const ModelConfig config = LlamaConfig{.vocab = 32000, .d_model = 4096, .layers = 32,
//                                          .heads = 32, .kv_heads = 8, .ffn = 11008};
//   save_config("ckpt", config);                  // model.json beside the weights
//   const ModelConfig same = load_config("ckpt");
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace phi::nn::models {

inline constexpr const char* kDefaultActivation = "gelu_tanh";

/// Learned positions, layer norms, biases, GELU unless another activation is named (Radford et al.
/// 2019).
struct GptConfig {
  int64_t vocab = 256;
  int64_t seq_len = 256;  // positions that the model knows
  int64_t d_model = 384;  // heads * head_size()
  int64_t layers = 6;
  int64_t heads = 6;
  int64_t hidden = 4 * 384;                     // columns of up
  std::string activation = kDefaultActivation;  // of the hidden units (nn::activation_named)
  double dropout = 0.0;
  double norm_eps = 1e-5;
  bool tied_head = false;  // logits are x · token_embeddingᵀ: there is no parameter `head`

  int64_t head_size() const { return d_model / heads; }
  friend bool operator==(const GptConfig&, const GptConfig&) = default;
};

/// Rotary positions, RMS norms, grouped queries, SwiGLU (Touvron et al. 2023).
struct LlamaConfig {
  int64_t vocab = 256;
  int64_t seq_len = 256;  // positions that the model is made for
  int64_t d_model = 384;  // heads * head_size()
  int64_t layers = 6;
  int64_t heads = 6;     // of queries
  int64_t kv_heads = 6;  // of keys and values
  int64_t ffn = 1024;    // columns of gate and up
  double rope_base = 10000.0;
  double norm_eps = 1e-5;
  bool qkv_bias = false;   // queries, keys and values have biases
  bool tied_head = false;  // logits are x · token_embeddingᵀ: there is no parameter `head`

  int64_t head_size() const { return d_model / heads; }
  friend bool operator==(const LlamaConfig&, const LlamaConfig&) = default;
};

using ModelConfig = std::variant<GptConfig, LlamaConfig>;

/// The file beside the weights that tells what model they are of.
inline constexpr const char* kConfigFile = "model.json";

/// "gpt" or "llama".
std::string_view kind_of(const ModelConfig& config);

/// {"kind": "llama", "vocab": 32000, ...}: all keys, a line for each.
std::string to_json(const ModelConfig& config);
/// `path` is for messages. The kind and all sizes must be given; the other keys have defaults.
/// Errors: InvalidArgument naming `path` and the key: no valid JSON, keys that are unknown (with
/// the nearest name), wrong types; as check().
ModelConfig from_json(std::string_view text, const std::string& path);

/// Errors: InvalidArgument, `where` in front, naming keys and values that no model can have. A key
/// that `where` has another name for is found in `names`.
using KeyNames = std::map<std::string_view, std::string_view>;
void check(const ModelConfig& config, const std::string& where, const KeyNames& names = {});

/// What hinders a model `wanted` from having the weights of a model `found` in `where`: a line for
/// each key with both values; empty if nothing does. Dropout may differ, and so may the length of
/// sequences where nothing is learned of it: a Llama may be used for shorter ones.
std::string differences(const ModelConfig& wanted, const ModelConfig& found,
                        const std::string& where);

/// To and from the file kConfigFile of a folder. Errors: NotFound; Unavailable; as from_json.
void save_config(const std::string& folder, const ModelConfig& config);
ModelConfig load_config(const std::string& folder);

}  // namespace phi::nn::models
