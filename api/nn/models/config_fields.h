// The fields of model configs by name, for code that reads, writes or compares them.
//
//   for_each_field(config, [](std::string_view name, auto& value) { ... });
//
// A value is int64_t, double, bool or std::string.
#pragma once

#include <string_view>
#include <type_traits>
#include <variant>

#include "api/nn/models/config.h"

namespace phi::nn::models {

/// Calls f for each field of a GptConfig or a LlamaConfig, const or not, in the order of the
/// struct.
template <typename Config, typename F>
void for_each_field(Config& config, const F& f) {
  f("vocab", config.vocab);
  f("seq_len", config.seq_len);
  f("d_model", config.d_model);
  f("layers", config.layers);
  f("heads", config.heads);
  if constexpr (std::is_same_v<std::remove_const_t<Config>, GptConfig>) {
    f("hidden", config.hidden);
    f("activation", config.activation);
    f("dropout", config.dropout);
    f("norm_eps", config.norm_eps);
  } else {
    f("kv_heads", config.kv_heads);
    f("ffn", config.ffn);
    f("rope_base", config.rope_base);
    f("norm_eps", config.norm_eps);
    f("qkv_bias", config.qkv_bias);
  }
  f("tied_head", config.tied_head);
}

}  // namespace phi::nn::models
