// config.json of Hugging Face's transformers, and our configs.
//
//   const Config config = read_config("Qwen2-0.5B/config.json");
//   std::get<models::LlamaConfig>(config.model).qkv_bias;         // true
//
// A key that changes what the model computes is followed or refused by its name and value.
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
/// Errors: InvalidArgument with the names that there are.
Architecture architecture_of_name(std::string_view name);
/// What a model is written as unless somebody says otherwise.
Architecture architecture_of(const models::ModelConfig& model);

struct Config {
  Architecture architecture;
  models::ModelConfig model;
  DataType dtype = DataType::UNDEFINED;  // that config.json speaks of; files may have others
  /// For people: what the file says that is not followed, and does not change what the model
  /// computes but in training.
  std::vector<std::string> notes{};
};

/// Errors: InvalidArgument naming `path`, the key and its value; of read_config NotFound too.
Config decode_config(std::string_view text, const std::string& path);
Config read_config(const std::string& path);

/// As config.json. Errors: InvalidArgument if the architecture has no such model: a Llama with
/// biases is a Qwen2, one without them a Llama or a Mistral.
std::string encode_config(const Config& config);

}  // namespace phi::nn::huggingface
