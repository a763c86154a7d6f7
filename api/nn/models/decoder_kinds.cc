// The rows of gpt and llama.
#include <fmt/format.h>

#include "api/nn/models/decoder.h"
#include "api/nn/models/library_kinds.h"

namespace phi::nn::models {
namespace {

std::optional<KeyFault> fault_of_heads(const ModelValues& values) {
  const int64_t heads = values.size("heads");
  const int64_t d_model = values.size("d_model");
  if (d_model % heads == 0) return std::nullopt;
  return KeyFault{{"heads", "d_model"},
                  fmt::format("{} heads do not divide d_model {}; d_model must be a multiple of "
                              "heads.",
                              heads, d_model)};
}

std::optional<KeyFault> fault_of_llama(const ModelValues& values) {
  if (auto fault = fault_of_heads(values)) return fault;
  const int64_t heads = values.size("heads");
  const int64_t kv_heads = values.size("kv_heads");
  if (heads % kv_heads != 0) {
    return KeyFault{{"kv_heads", "heads"},
                    fmt::format("{} kv_heads do not divide heads {}; the same number of query "
                                "heads must share each key head.",
                                kv_heads, heads)};
  }
  const int64_t d_model = values.size("d_model");
  if (d_model / heads % 2 == 0) return std::nullopt;
  return KeyFault{
      {"heads", "d_model"},
      fmt::format("heads of {} (d_model {} / heads {}) are odd; rotary positions rotate "
                  "pairs of elements.",
                  d_model / heads, d_model, heads)};
}

ModelConfig gpt_config(const ModelValues& values) {
  return GptConfig{.vocab = values.size("vocab"),
                   .seq_len = values.size("seq_len"),
                   .d_model = values.size("d_model"),
                   .layers = values.size("layers"),
                   .heads = values.size("heads"),
                   .hidden = values.size("d_model") * values.size("mlp_ratio"),
                   .activation = values.text("activation"),
                   .dropout = values.number("dropout"),
                   .norm_eps = values.number("norm_eps"),
                   .tied_head = values.flag("tied_head")};
}

ModelConfig llama_config(const ModelValues& values) {
  return LlamaConfig{.vocab = values.size("vocab"),
                     .seq_len = values.size("seq_len"),
                     .d_model = values.size("d_model"),
                     .layers = values.size("layers"),
                     .heads = values.size("heads"),
                     .kv_heads = values.size("kv_heads"),
                     .ffn = values.size("ffn"),
                     .rope_base = values.number("rope_base"),
                     .norm_eps = values.number("norm_eps"),
                     .qkv_bias = values.flag("qkv_bias"),
                     .tied_head = values.flag("tied_head")};
}

// A row with the keys and functions that gpt and llama share. `own` are the keys of one of them.
ModelKind decoder_kind(std::string name, std::vector<ModelKey> own,
                       ModelConfig (*config)(const ModelValues&)) {
  ModelKind kind{.name = std::move(name)};
  kind.keys = {size_key("vocab", 256), size_key("seq_len", 256), size_key("d_model", 384),
               size_key("layers", 6), size_key("heads", 6)};
  for (ModelKey& key : own) kind.keys.push_back(std::move(key));
  kind.keys.push_back(flag_key("tied_head", false));
  kind.keys.push_back(number_key("norm_eps", 1e-5, 0.0, 1.0));
  kind.make = [config](const ModelValues& values) { return make(config(values)); };
  kind.repeated = "layers";
  kind.splits_over_tp = true;
  kind.decoder_config = config;
  return kind;
}

}  // namespace

ModelKind gpt_kind() {
  ModelKind kind = decoder_kind("gpt",
                                {{"mlp_ratio", int64_t{4}, 1.0, 1024.0},
                                 text_key("activation", kDefaultActivation),
                                 fraction_key("dropout", 0.0)},
                                gpt_config);
  kind.find_fault = fault_of_heads;
  return kind;
}

ModelKind llama_kind() {
  ModelKey kv_heads = size_key("kv_heads", 6);
  kv_heads.default_from = "heads";
  ModelKind kind =
      decoder_kind("llama",
                   {kv_heads, size_key("ffn", 1024), number_key("rope_base", 10000.0, 1.0, 1e12),
                    flag_key("qkv_bias", false)},
                   llama_config);
  kind.find_fault = fault_of_llama;
  // kv_heads divides heads, so tp divides these too.
  kind.divided_by_tp = {"kv_heads", "ffn", "vocab"};
  return kind;
}

}  // namespace phi::nn::models
