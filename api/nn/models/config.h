// Model configs: sizes and choices, without values, seeds, dtypes and meshes.
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

/// A GPT-2 style decoder: learned positions, layer norms, biases, GELU unless another activation is
/// named (Radford et al. 2019).
struct GptConfig {
  int64_t vocab = 256;
  int64_t seq_len = 256;  // number of learned positions
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

/// A Llama style decoder: rotary positions, RMS norms, grouped queries, SwiGLU (Touvron et al.
/// 2023).
struct LlamaConfig {
  int64_t vocab = 256;
  int64_t seq_len = 256;  // positions that the model is trained for
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

/// The file, next to the weights, that contains their model's config.
inline constexpr const char* kConfigFile = "model.json";

/// "gpt" or "llama".
std::string_view kind_of(const ModelConfig& config);

/// A JSON object with all keys, one per line: {"kind": "llama", "vocab": 32000, ...}.
std::string to_json(const ModelConfig& config);
/// Parses to_json()'s format. `path` is used in messages. The kind and all sizes are required;
/// other keys have defaults.
/// Errors: InvalidArgument, naming `path` and the key, for invalid JSON, unknown keys (with the
/// nearest name) and wrong types; as check().
ModelConfig from_json(std::string_view text, const std::string& path);

/// Checks that a config describes a model. `names` maps keys to the names that they have in
/// `where`.
/// Errors: InvalidArgument, starting with `where`, that names the invalid keys and values.
using KeyNames = std::map<std::string_view, std::string_view>;
void check(const ModelConfig& config, const std::string& where, const KeyNames& names = {});

/// Why a model `wanted` cannot use the weights of a model `found` in `where`: a line with both
/// values for each key; empty if it can. Dropout may differ. The sequence length may differ if
/// nothing is learned per position: a Llama also runs shorter sequences.
std::string differences(const ModelConfig& wanted, const ModelConfig& found,
                        const std::string& where);

/// Write and read kConfigFile in `folder`. Errors: NotFound; Unavailable; as from_json.
void save_config(const std::string& folder, const ModelConfig& config);
ModelConfig load_config(const std::string& folder);

}  // namespace phi::nn::models
