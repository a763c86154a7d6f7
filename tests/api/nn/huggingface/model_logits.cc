// The forward passes of GPT and Llama in operators, after docs/weights.md.
#include "model_logits.h"

#include <optional>
#include <tuple>

#include "api/tensor/checkpoint.h"
#include "phi/api.h"

namespace phi::nn {
namespace {

using distributed::checkpoint::Checkpoint;
using models::GptConfig;
using models::LlamaConfig;

class Weights {
 public:
  explicit Weights(const Checkpoint& from) : from_(from) {}

  Tensor operator()(const std::string& name) const {
    return distributed::checkpoint::deferred(from_, name, DataType::FLOAT32);
  }
  // x · weight + bias, if there is one.
  Tensor linear(const Tensor& x, const std::string& name) const {
    const Tensor y = matmul(x, (*this)(name + ".weight"));
    return from_.contains(name + ".bias") ? add(y, (*this)(name + ".bias")) : y;
  }
  Tensor head(const Tensor& x, bool is_tied) const {
    return is_tied ? matmul(x, (*this)("token_embedding"), false, true)
                   : matmul(x, (*this)("head"));
  }

 private:
  const Checkpoint& from_;
};

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor mixed =
      std::get<0>(flash_attention(q, k, v, std::nullopt, std::nullopt, /*dropout=*/0.0f,
                                  /*causal=*/true, /*return_softmax=*/false, /*is_test=*/true));
  return reshape(mixed, {q.shape()[0], q.shape()[1], q.shape()[2] * q.shape()[3]});
}

Tensor logits(const GptConfig& config, const Weights& weights, const Tensor& ids) {
  const int64_t batch = ids.shape()[0];
  const int64_t seq = ids.shape()[1];
  const auto norm = [&](const Tensor& x, const std::string& name) {
    return layer_norm(x, weights(name + ".scale"), weights(name + ".shift"),
                      static_cast<float>(config.norm_eps), /*begin_norm_axis=*/2);
  };
  Tensor x = add(embedding(ids, weights("token_embedding")),
                 embedding(arange(0, seq, 1), weights("position_embedding")));
  for (int64_t i = 0; i < config.layers; ++i) {
    const std::string layer = "layer" + std::to_string(i) + ".";
    const Tensor fused = reshape(weights.linear(norm(x, layer + "norm_attention"), layer + "qkv"),
                                 {batch, seq, config.heads, 3, config.head_size()});
    const TensorList qkv = split_with_num(fused, 3, 3);
    const Tensor mixed = attend(squeeze(qkv[0], {3}), squeeze(qkv[1], {3}), squeeze(qkv[2], {3}));
    x = add(x, weights.linear(mixed, layer + "projection"));
    const Tensor hidden =
        gelu(weights.linear(norm(x, layer + "norm_mlp"), layer + "up"), /*approximate=*/true);
    x = add(x, weights.linear(hidden, layer + "down"));
  }
  return weights.head(norm(x, "final_norm"), config.tied_head);
}

Tensor logits(const LlamaConfig& config, const Weights& weights, const Tensor& ids) {
  const int64_t batch = ids.shape()[0];
  const int64_t seq = ids.shape()[1];
  const auto norm = [&](const Tensor& x, const std::string& name) {
    return rms_norm(x, weights(name + ".scale"), static_cast<float>(config.norm_eps));
  };
  Tensor x = embedding(ids, weights("token_embedding"));
  for (int64_t i = 0; i < config.layers; ++i) {
    const std::string layer = "layer" + std::to_string(i) + ".";
    const Tensor h = norm(x, layer + "norm_attention");
    const auto heads = [&](const char* name, int64_t count) {
      return reshape(weights.linear(h, layer + name), {batch, seq, count, config.head_size()});
    };
    const auto [q, k, v] = fused_rotary_position_embedding(
        heads("query", config.heads), heads("key", config.kv_heads), std::nullopt, std::nullopt,
        std::nullopt, std::nullopt, /*use_neox_rotary_style=*/true, /*time_major=*/false,
        static_cast<float>(config.rope_base));
    const Tensor mixed = attend(q, k, heads("value", config.kv_heads));
    x = add(x, weights.linear(mixed, layer + "projection"));
    const Tensor g = norm(x, layer + "norm_mlp");
    const Tensor hidden =
        swiglu(weights.linear(g, layer + "gate"), weights.linear(g, layer + "up"));
    x = add(x, weights.linear(hidden, layer + "down"));
  }
  return weights.head(norm(x, "final_norm"), config.tied_head);
}

}  // namespace

Tensor model_logits(const models::ModelConfig& config, const Checkpoint& weights,
                    const Tensor& ids) {
  return std::visit([&](const auto& model) { return logits(model, Weights(weights), ids); },
                    config);
}

}  // namespace phi::nn
