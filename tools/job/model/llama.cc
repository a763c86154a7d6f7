// Parameters and layer of the Llama.
#include "tools/job/model/llama.h"

#include <optional>

#include "phi/api.h"

namespace phi::job {

using distributed::Replicate;
using distributed::Shard;

namespace {

// A layer's parameters in their list.
enum Slot : size_t {
  kNormAttention = 0,
  kQuery,
  kKey,
  kValue,
  kProjection,
  kNormMlp,
  kGate,
  kUp,
  kDown
};
constexpr size_t kNormSize = 1;

// i64[B,S]: the S positions that follow those held.
Tensor positions_behind(const Past& past, int64_t count) {
  return add(unsqueeze(past.lengths, {1}), arange(0, count, 1));
}

}  // namespace

TensorList Llama::make_layer(const std::string& name, const Stage& stage,
                             Parameters* parameters) const {
  const int64_t d = model_.d_model;
  const int64_t kv = model_.kv_heads * model_.head_size();
  const auto by_columns = [&](const char* own, int64_t out) {
    return parameters->gaussian(name + own + ".weight", {d, out}, kWeightStd, stage, Shard(1));
  };
  const auto by_rows = [&](const char* own, int64_t in) {
    return parameters->gaussian(name + own + ".weight", {in, d}, into_residual_std(), stage,
                                Shard(0));
  };
  TensorList list = make_norm(name + "norm_attention", stage, parameters);
  list.push_back(by_columns("query", d));
  list.push_back(by_columns("key", kv));
  list.push_back(by_columns("value", kv));
  list.push_back(by_rows("projection", d));
  list.push_back(make_norm(name + "norm_mlp", stage, parameters)[0]);
  list.push_back(by_columns("gate", model_.ffn));
  list.push_back(by_columns("up", model_.ffn));
  list.push_back(by_rows("down", model_.ffn));
  return list;
}

TensorList Llama::make_norm(const std::string& name, const Stage& stage,
                            Parameters* parameters) const {
  return {parameters->filled(name + ".scale", {model_.d_model}, 1.0f, stage, Replicate())};
}

Tensor Llama::layer(TensorSpan parameters, const Tensor& x, uint64_t, const Past* past) const {
  return mlp(parameters, attention(parameters, x, past));
}

Tensor Llama::attention(TensorSpan layer, const Tensor& x, const Past* past) const {
  const int64_t batch = x.shape()[0];
  const int64_t seq = x.shape()[1];
  const Tensor h = sequence_.whole(normalize(layer.subspan(kNormAttention, kNormSize), x));
  const auto heads = [&](Slot weight, int64_t count) {
    return reshape(matmul(h, layer[weight]), {batch, seq, count, model_.head_size()});
  };
  const TensorList qkv = {heads(kQuery, model_.heads), heads(kKey, model_.kv_heads),
                          heads(kValue, model_.kv_heads)};
  const auto core = [this, past](const TensorList& inputs) { return attend_rotated(inputs, past); };
  const Tensor mixed = reshape(attention_core(core, qkv, past), {batch, seq, model_.d_model});
  return add_into(sequence_.split(matmul(mixed, layer[kProjection])), x);
}

Tensor Llama::attend_rotated(const TensorList& qkv, const Past* past) const {
  // Without a past the operator knows positions from where its part lies in the sequence.
  std::optional<Tensor> positions;
  if (past) positions = positions_behind(*past, qkv[0].shape()[1]);
  const auto [q, k, v] = fused_rotary_position_embedding(
      qkv[0], qkv[1], std::nullopt, std::nullopt, std::nullopt, positions,
      /*use_neox_rotary_style=*/true, /*time_major=*/false, static_cast<float>(model_.rope_base));
  return attend(q, k, qkv[2], past);
}

Tensor Llama::mlp(TensorSpan layer, const Tensor& x) const {
  const Tensor h = sequence_.whole(normalize(layer.subspan(kNormMlp, kNormSize), x));
  const Tensor hidden = swiglu(matmul(h, layer[kGate]), matmul(h, layer[kUp]));
  return add_into(sequence_.split(matmul(hidden, layer[kDown])), x);
}

Tensor Llama::normalize(TensorSpan norm, const Tensor& x) const {
  return rms_norm(x, norm[0], static_cast<float>(model_.norm_eps));
}

}  // namespace phi::job
