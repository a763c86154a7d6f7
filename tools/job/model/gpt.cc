// Parameters and layer of the GPT.
#include "tools/job/model/gpt.h"

#include <optional>

#include "phi/api.h"

namespace phi::job {

using distributed::Replicate;
using distributed::Shard;

namespace {

constexpr float kNormEpsilon = 1e-5f;

// A layer's parameters in their list.
enum Slot : size_t {
  kNormAttention = 0,  // scale, shift
  kQkvWeight = 2,
  kQkvBias,
  kProjectionWeight,
  kProjectionBias,
  kNormMlp,  // scale, shift
  kUpWeight = kNormMlp + 2,
  kUpBias,
  kDownWeight,
  kDownBias
};
constexpr size_t kNormSize = 2;

// Dropout sites of one layer.
enum Site : uint64_t { kAfterAttention = 0, kAfterMlp = 1, kSites = 2 };
static_assert(kSites <= Architecture::kSeedsPerLayer);

void append(TensorList* list, const TensorList& more) {
  list->insert(list->end(), more.begin(), more.end());
}

struct Product {
  const char* name;
  int64_t in;
  int64_t out;
  double std;
  bool by_columns;  // how tp splits it
};

TensorList make_linear(const std::string& prefix, const Product& product, const Stage& stage,
                       Parameters* parameters) {
  const auto& [name, in, out, std, by_columns] = product;
  return {parameters->gaussian(prefix + name + ".weight", {in, out}, std, stage,
                               Shard(by_columns ? 1 : 0)),
          parameters->filled(prefix + name + ".bias", {out}, 0.0f, stage,
                             by_columns ? Shard(0) : Replicate())};
}

// Of q, k and v fused as [B,S,heads,3,head size].
TensorList split_heads(const Tensor& fused) {
  TensorList heads;
  for (const Tensor& part : split_with_num(fused, 3, 3)) heads.push_back(squeeze(part, {3}));
  return heads;
}

}  // namespace

TensorList Gpt::make_layer(const std::string& name, const Stage& stage,
                           Parameters* parameters) const {
  const int64_t d = model_.d_model;
  const int64_t hidden = d * model_.mlp_ratio;
  const auto linear = [&](const Product& product) {
    return make_linear(name, product, stage, parameters);
  };
  TensorList list = make_norm(name + "norm_attention", stage, parameters);
  append(&list, linear({"qkv", d, 3 * d, kWeightStd, true}));
  append(&list, linear({"projection", d, d, into_residual_std(), false}));
  append(&list, make_norm(name + "norm_mlp", stage, parameters));
  append(&list, linear({"up", d, hidden, kWeightStd, true}));
  append(&list, linear({"down", hidden, d, into_residual_std(), false}));
  return list;
}

TensorList Gpt::make_norm(const std::string& name, const Stage& stage,
                          Parameters* parameters) const {
  return {parameters->filled(name + ".scale", {model_.d_model}, 1.0f, stage, Replicate()),
          parameters->filled(name + ".shift", {model_.d_model}, 0.0f, stage, Replicate())};
}

TensorList Gpt::make_positions(const Stage& first, Parameters* parameters) const {
  return {parameters->gaussian("position_embedding", {model_.seq_len, model_.d_model}, kWeightStd,
                               first, Replicate())};
}

Tensor Gpt::add_positions(TensorSpan parameters, const Tensor& tokens, const Tensor& first,
                          uint64_t noise) const {
  const Tensor& table = parameters[0];
  const int64_t count = tokens.shape()[1];
  if (count == model_.seq_len) return with_dropout(add_into(tokens, table), noise);
  const Tensor steps = arange(0, count, 1);
  const Tensor rows = embedding(first.defined() ? add(steps, first) : steps, table);
  return with_dropout(add_into(tokens, rows), noise);
}

Tensor Gpt::layer(TensorSpan parameters, const Tensor& x, uint64_t noise, const Past* past) const {
  return mlp(parameters, attention(parameters, x, noise + kAfterAttention, past),
             noise + kAfterMlp);
}

Tensor Gpt::attention(TensorSpan layer, const Tensor& x, uint64_t noise, const Past* past) const {
  const int64_t batch = x.shape()[0];
  const int64_t seq = x.shape()[1];
  const Tensor h = sequence_.whole(normalize(layer.subspan(kNormAttention, kNormSize), x));
  // Columns of the fused weight are ordered head by head, so that a split by columns splits heads.
  const Tensor fused = reshape(add_into(matmul(h, layer[kQkvWeight]), layer[kQkvBias]),
                               {batch, seq, model_.heads, 3, model_.head_size()});
  const auto core = [past](const TensorList& inputs) {
    const TensorList qkv = split_heads(inputs[0]);
    return attend(qkv[0], qkv[1], qkv[2], past);
  };
  const Tensor mixed = reshape(attention_core(core, {fused}, past), {batch, seq, model_.d_model});
  const Tensor out = matmul(mixed, layer[kProjectionWeight]);
  const Tensor sum = add_into(sequence_.split(out), layer[kProjectionBias]);
  return add_into(with_dropout(sum, noise), x);
}

Tensor Gpt::mlp(TensorSpan layer, const Tensor& x, uint64_t noise) const {
  const Tensor h = sequence_.whole(normalize(layer.subspan(kNormMlp, kNormSize), x));
  const Tensor hidden =
      gelu(add_into(matmul(h, layer[kUpWeight]), layer[kUpBias]), /*approximate=*/true);
  const Tensor out = matmul(hidden, layer[kDownWeight]);
  const Tensor sum = add_into(sequence_.split(out), layer[kDownBias]);
  return add_into(with_dropout(sum, noise), x);
}

Tensor Gpt::normalize(TensorSpan norm, const Tensor& x) const {
  return layer_norm(x, norm[0], norm[1], kNormEpsilon, /*begin_norm_axis=*/2);
}

Tensor Gpt::with_dropout(const Tensor& x, uint64_t noise) const {
  if (model_.dropout == 0.0) return x;
  const uint64_t seed = seed_for("dropout", static_cast<uint64_t>(model_.seed) ^ noise << 16);
  return dropout(x, std::nullopt, model_.dropout, /*is_test=*/false, "upscale_in_train",
                 static_cast<int>(seed >> 33), /*fix_seed=*/true);
}

}  // namespace phi::job
