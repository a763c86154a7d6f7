// Tables of names, from the model sources of transformers (modeling_gpt2.py, modeling_llama.py,
// modeling_mistral.py, modeling_qwen2.py).
#include "api/nn/huggingface/tensor_names.h"

#include <fmt/format.h>

#include <regex>
#include <variant>

namespace phi::nn::huggingface {
namespace {

using distributed::checkpoint::Interleave;
using distributed::checkpoint::ViewTensor;
using models::GptConfig;
using models::LlamaConfig;

// Collects the name pairs of a model under a common prefix.
class Table {
 public:
  // Sets the prefixes of the names that follow.
  void below(std::string ours, std::string theirs) {
    ours_ = std::move(ours);
    theirs_ = std::move(theirs);
  }

  void same(const std::string& ours, const std::string& theirs, const Dims& shape,
            const Interleave& order = {}) {
    pairs_.push_back({ours_ + ours, theirs_ + theirs, shape, false, order});
  }

  // A weight of torch.nn.Linear, which is stored as [out, in].
  void linear(const std::string& ours, const std::string& theirs, int64_t in, int64_t out,
              const Interleave& order = {}) {
    pairs_.push_back({ours_ + ours, theirs_ + theirs, {in, out}, true, order});
  }

  std::vector<NamePair> take() { return std::move(pairs_); }

 private:
  std::string ours_;
  std::string theirs_;
  std::vector<NamePair> pairs_;
};

// GPT-2's Conv1D stores weights as [in, out], like this library.
std::vector<NamePair> gpt2_pairs(const GptConfig& model, std::string_view prefix) {
  const int64_t d = model.d_model;
  // Columns [q|k|v], each of them [heads, head size]; ours are [heads, 3, head size].
  const Interleave qkv{.rows = model.heads, .columns = 3, .inner = model.head_size()};
  const std::string front(prefix);
  Table table;
  const auto norm = [&](const std::string& ours, const std::string& theirs) {
    table.same(ours + ".scale", theirs + ".weight", {d});
    table.same(ours + ".shift", theirs + ".bias", {d});
  };
  const auto conv = [&](const std::string& ours, const std::string& theirs, int64_t in, int64_t out,
                        const Interleave& order = {}) {
    table.same(ours + ".weight", theirs + ".weight", {in, out}, order);
    table.same(ours + ".bias", theirs + ".bias", {out}, order);
  };
  table.below("", front);
  table.same("token_embedding", "wte.weight", {model.vocab, d});
  table.same("position_embedding", "wpe.weight", {model.seq_len, d});
  for (int64_t i = 0; i < model.layers; ++i) {
    table.below(fmt::format("layer{}.", i), fmt::format("{}h.{}.", front, i));
    norm("norm_attention", "ln_1");
    conv("qkv", "attn.c_attn", d, 3 * d, qkv);
    conv("projection", "attn.c_proj", d, d);
    norm("norm_mlp", "ln_2");
    conv("up", "mlp.c_fc", d, model.hidden);
    conv("down", "mlp.c_proj", model.hidden, d);
  }
  table.below("", front);
  norm("final_norm", "ln_f");
  table.below("", "");
  if (!model.tied_head) table.linear("head", kTheirHead, d, model.vocab);
  return table.take();
}

std::vector<NamePair> llama_pairs(const LlamaConfig& model) {
  const int64_t d = model.d_model;
  const int64_t kv = model.kv_heads * model.head_size();
  // Rotary positions rotate the elements i and i + head size / 2 of a head together in theirs, and
  // 2 i and 2 i + 1 in ours.
  const Interleave turned{.rows = model.head_size() / 2, .columns = 2, .inner = 1};
  Table table;
  table.below("", "model.");
  table.same("token_embedding", "embed_tokens.weight", {model.vocab, d});
  for (int64_t i = 0; i < model.layers; ++i) {
    table.below(fmt::format("layer{}.", i), fmt::format("model.layers.{}.", i));
    table.same("norm_attention.scale", "input_layernorm.weight", {d});
    table.linear("query.weight", "self_attn.q_proj.weight", d, d, turned);
    table.linear("key.weight", "self_attn.k_proj.weight", d, kv, turned);
    table.linear("value.weight", "self_attn.v_proj.weight", d, kv);
    if (model.qkv_bias) {
      table.same("query.bias", "self_attn.q_proj.bias", {d}, turned);
      table.same("key.bias", "self_attn.k_proj.bias", {kv}, turned);
      table.same("value.bias", "self_attn.v_proj.bias", {kv});
    }
    table.linear("projection.weight", "self_attn.o_proj.weight", d, d);
    table.same("norm_mlp.scale", "post_attention_layernorm.weight", {d});
    table.linear("gate.weight", "mlp.gate_proj.weight", d, model.ffn);
    table.linear("up.weight", "mlp.up_proj.weight", d, model.ffn);
    table.linear("down.weight", "mlp.down_proj.weight", model.ffn, d);
  }
  table.below("", "");
  table.same("final_norm.scale", "model.norm.weight", {d});
  if (!model.tied_head) table.linear("head", kTheirHead, d, model.vocab);
  return table.take();
}

}  // namespace

Dims NamePair::their_shape() const { return transposed ? Dims{shape[1], shape[0]} : shape; }

std::vector<NamePair> name_pairs(const Config& config, std::string_view prefix) {
  if (const auto* gpt = std::get_if<GptConfig>(&config.model)) return gpt2_pairs(*gpt, prefix);
  return llama_pairs(std::get<LlamaConfig>(config.model));
}

std::vector<ViewTensor> our_view(const std::vector<NamePair>& pairs) {
  std::vector<ViewTensor> view;
  for (const NamePair& pair : pairs) {
    std::vector<Interleave> order(static_cast<size_t>(pair.shape.ndim()));
    order.back() = pair.order;
    view.push_back({pair.ours, pair.theirs, pair.transposed, order});
  }
  return view;
}

std::vector<ViewTensor> their_view(const std::vector<NamePair>& pairs) {
  std::vector<ViewTensor> view;
  for (const NamePair& pair : pairs) {
    std::vector<Interleave> order(static_cast<size_t>(pair.shape.ndim()));
    (pair.transposed ? order.front() : order.back()) = pair.order.inverse();
    view.push_back({pair.theirs, pair.ours, pair.transposed, order});
  }
  return view;
}

bool is_buffer(Architecture architecture, std::string_view name) {
  static const std::regex gpt2(R"((transformer\.)?h\.\d+\.attn\.(bias|masked_bias))");
  static const std::regex others(R"(model\.(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq)");
  const std::string text(name);
  return std::regex_match(text, architecture == Architecture::kGpt2 ? gpt2 : others);
}

std::string their_embedding(Architecture architecture, std::string_view prefix) {
  return architecture == Architecture::kGpt2 ? std::string(prefix) + "wte.weight"
                                             : "model.embed_tokens.weight";
}

}  // namespace phi::nn::huggingface
