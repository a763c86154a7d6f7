// Conversion between config.json of Hugging Face's transformers and this library's model configs.
//
//   const Config config = read_config("Qwen2-0.5B/config.json");
//   std::get<models::LlamaConfig>(config.model).qkv_bias;         // true
//
// A key that changes what the model computes is either supported or refused by name and value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/nn/models/config.h"
#include "phi/common/dtype.h"

namespace phi::nn::huggingface {

inline constexpr const char* kConfigFile = "config.json";

enum class Architecture : uint8_t { kGpt2, kLlama, kMistral, kQwen2 };

/// "LlamaForCausalLM"
std::string_view name_of(Architecture architecture);
/// Errors: InvalidArgument with the known names.
Architecture architecture_of_name(std::string_view name);
/// The architecture as which a model is written by default.
Architecture architecture_of(const models::ModelConfig& model);

struct Config {
  Architecture architecture;
  models::ModelConfig model;
  DataType dtype = DataType::UNDEFINED;  // from config.json; the files may have others
  /// Messages for the user: ignored keys that have no effect, or an effect only in training.
  std::vector<std::string> notes{};
};

/// Parses config.json.
/// Errors: InvalidArgument naming `path`, the key and its value; read_config also throws NotFound.
Config decode_config(std::string_view text, const std::string& path);
Config read_config(const std::string& path);

/// The text of config.json.
/// Errors: InvalidArgument if the architecture has no such model: a Llama with biases is a Qwen2;
/// one without is a Llama or a Mistral.
std::string encode_config(const Config& config);

}  // namespace phi::nn::huggingface
