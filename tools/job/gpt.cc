// Parameters and forward pass of the GPT.
#include "tools/job/gpt.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "distributed/placement/split.h"
#include "phi/api.h"
#include "phi/api/checkpoint.h"
#include "phi/api/training/optimizer.h"
#include "phi/common/errors.h"

namespace phi::job {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::TensorDistAttr;
using distributed::checkpoint::Checkpoint;

namespace {

constexpr double kWeightStd = 0.02;  // as GPT-2 (Radford et al. 2019)
constexpr float kNormEpsilon = 1e-5f;

// FNV-1a, so that a parameter's values follow its name.
uint64_t seed_for(std::string_view name, uint64_t seed) {
  uint64_t hash = 0xcbf29ce484222325u ^ (seed * 0x9e3779b97f4a7c15u);
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

// x + y in the bytes of x, which nobody else needs.
Tensor add_into(Tensor x, const Tensor& y) {
  add_(x, y);
  return x;
}

// Dropout sites of one layer, and how many seeds a call of loss() uses.
enum Site : uint64_t { kAfterAttention = 0, kAfterMlp = 1, kSitesPerLayer = 2 };

int dim_or_none(const ProcessMesh& mesh, std::string_view name) {
  const auto& names = mesh.dim_names();
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace

const TensorDistAttr* Stage::attr(Placement along_dp, Placement along_tp) const {
  std::vector<Placement> placements(static_cast<size_t>(mesh_.ndim()), Replicate());
  if (const int dp = dim_or_none(mesh_, "dp"); dp >= 0) placements[dp] = along_dp;
  if (const int tp = dim_or_none(mesh_, "tp"); tp >= 0) placements[tp] = along_tp;
  return TensorDistAttr::get(mesh_, placements);
}

Tensor Stage::place(const Tensor& x, Placement along_dp, Placement along_tp) const {
  const auto placements = attr(along_dp, along_tp)->placements();
  return x.is_dist() ? distributed::reshard(x, mesh_, placements)
                     : distributed::shard_tensor(x, mesh_, placements);
}

std::vector<Stage> stages_of(const ProcessMesh& mesh) {
  const int pp = dim_or_none(mesh, "pp");
  if (pp < 0) return {Stage(mesh)};
  std::vector<Stage> stages;
  for (int64_t s = 0; s < mesh.dim_size(pp); ++s) stages.emplace_back(mesh.slice(pp, s));
  return stages;
}

Gpt::Gpt(const ModelConfig& model, const RunConfig& run, const ProcessMesh& mesh,
         const Checkpoint* weights)
    : model_(model), run_(run), stages_(stages_of(mesh)) {
  declare_parameters();
  fill_parameters(weights);
}

void Gpt::declare_parameters() {
  const int64_t d = model_.d_model;
  const auto num_chunks = static_cast<int64_t>(stages_.size()) * run_.chunks;
  const Stage& last = stages_.back();
  token_embedding_ =
      gaussian("token_embedding", {model_.vocab, d}, kWeightStd, stages_[0], Shard(0));
  position_embedding_ =
      gaussian("position_embedding", {model_.seq_len, d}, kWeightStd, stages_[0], Replicate());
  for (int64_t c = 0; c < num_chunks; ++c) {
    const Stage& stage = stages_[static_cast<size_t>(c) % stages_.size()];
    const auto own = distributed::split_range(model_.layers, num_chunks, c);
    for (int64_t i = own.offset; i < own.end(); ++i) layers_.push_back(make_layer(i, stage));
    chunks_.push_back({&stage, own.offset, own.end()});
  }
  final_norm_ = make_norm("final_norm", last);
  head_ = gaussian("head", {d, model_.vocab}, kWeightStd, last, Shard(1));
}

Gpt::Layer Gpt::make_layer(int64_t index, const Stage& stage) {
  const std::string name = "layer" + std::to_string(index) + ".";
  const int64_t d = model_.d_model;
  const int64_t hidden = d * model_.mlp_ratio;
  // Each layer adds twice to the residual; GPT-2 keeps the sum's variance by scaling these two.
  const double into_residual = kWeightStd / std::sqrt(2.0 * static_cast<double>(model_.layers));
  Layer layer;
  layer.stage = &stage;
  layer.norm_attention = make_norm(name + "norm_attention", stage);
  layer.qkv = make_linear(name + "qkv", d, 3 * d, kWeightStd, stage, /*by_columns=*/true);
  layer.projection = make_linear(name + "projection", d, d, into_residual, stage, false);
  layer.norm_mlp = make_norm(name + "norm_mlp", stage);
  layer.up = make_linear(name + "up", d, hidden, kWeightStd, stage, /*by_columns=*/true);
  layer.down = make_linear(name + "down", hidden, d, into_residual, stage, false);
  return layer;
}

Gpt::Linear Gpt::make_linear(const std::string& name, int64_t in, int64_t out, double std,
                             const Stage& stage, bool by_columns) {
  return {gaussian(name + ".weight", {in, out}, std, stage, Shard(by_columns ? 1 : 0)),
          filled(name + ".bias", {out}, 0.0f, stage, by_columns ? Shard(0) : Replicate())};
}

Gpt::Norm Gpt::make_norm(const std::string& name, const Stage& stage) {
  return {filled(name + ".scale", {model_.d_model}, 1.0f, stage, Replicate()),
          filled(name + ".shift", {model_.d_model}, 0.0f, stage, Replicate())};
}

Tensor Gpt::gaussian(const std::string& name, const Dims& shape, double std, const Stage& stage,
                     Placement along_tp) {
  const uint64_t seed = seed_for(name, static_cast<uint64_t>(model_.seed));
  return add_parameter(name,
                       deferred_gaussian(shape, 0.0f, static_cast<float>(std), seed, run_.dtype),
                       stage, along_tp);
}

Tensor Gpt::filled(const std::string& name, const Dims& shape, float value, const Stage& stage,
                   Placement along_tp) {
  return add_parameter(name, deferred_full(shape, value, run_.dtype), stage, along_tp);
}

Tensor Gpt::add_parameter(const std::string& name, const Tensor& whole, const Stage& stage,
                          Placement along_tp) {
  const auto* attr = training::parameter_attr(stage.attr(Replicate(), along_tp), whole.shape(),
                                              {.stage = static_cast<int>(run_.zero_stage)});
  layouts_.push_back(attr);
  return parameters_.emplace_back(name, whole).second;
}

// The handles that the layers hold see the values that are put into them here.
void Gpt::fill_parameters(const Checkpoint* weights) {
  if (weights) {
    std::vector<distributed::checkpoint::Wanted> wanted;
    for (const auto& [name, parameter] : parameters_) wanted.push_back({name, parameter.meta()});
    weights->check(wanted);
  }
  for (size_t i = 0; i < parameters_.size(); ++i) {
    auto& [name, parameter] = parameters_[i];
    const Tensor whole =
        weights ? distributed::checkpoint::deferred(*weights, name, run_.dtype) : parameter;
    parameter.replace(
        distributed::shard_tensor(whole, layouts_[i]->mesh(), layouts_[i]->placements()));
  }
}

const TensorDistAttr* Gpt::input_attr(int chunk) const {
  return chunks_[static_cast<size_t>(chunk)].stage->attr(Shard(0), sequence_placement());
}

Tensor Gpt::loss(const Batch& batch) const {
  Tensor x;
  for (int chunk = 0; chunk < num_chunks(); ++chunk) x = forward(chunk, on_chunk(chunk, x), batch);
  return x;
}

Tensor Gpt::forward(int chunk, const Tensor& input, const Batch& batch) const {
  const Tensor x = run_chunk(chunk, input, {batch.ids, batch.noise});
  return chunk + 1 == num_chunks() ? head_loss(x, batch.labels) : x;
}

KeyValueCache Gpt::make_cache(int64_t batch) const {
  const Dims shape{batch, model_.seq_len, model_.heads, model_.head_size()};
  KeyValueCache cache;
  for (const Layer& layer : layers_) {
    const auto room = [&] {
      return layer.stage->place(deferred_full(shape, 0.0f, run_.dtype), Shard(0), Shard(2));
    };
    cache.layers_.push_back({room(), room()});
  }
  return cache;
}

Tensor Gpt::next_logits(const Tensor& ids, KeyValueCache* cache) const {
  const NoGrad no_grad;
  const int64_t count = ids.shape()[1];
  const int64_t held = cache ? cache->length_ : 0;
  PHI_CHECK(count >= 1 && held + count <= model_.seq_len,
            errors::InvalidArgument("{} positions behind {} read before are not 1 to seq_len {}; "
                                    "clear the cache and read fewer.",
                                    count, held, model_.seq_len));
  Tensor x;
  for (int chunk = 0; chunk < num_chunks(); ++chunk) {
    x = run_chunk(chunk, on_chunk(chunk, x), {.ids = ids, .cache = cache});
  }
  if (cache) cache->length_ += count;
  return logits(count == 1 ? x : slice(x, {1}, {count - 1}, {count}));
}

Tensor Gpt::on_chunk(int chunk, const Tensor& x) const {
  if (chunk == 0) return x;
  const auto* attr = input_attr(chunk);
  return distributed::reshard(x, attr->mesh(), attr->placements());
}

Tensor Gpt::run_chunk(int chunk, const Tensor& input, const Reading& reading) const {
  const Chunk& own = chunks_[static_cast<size_t>(chunk)];
  Tensor x = chunk == 0 ? embed(reading) : input;
  Tensor lengths;
  if (reading.cache) {
    const Tensor whole = full({x.shape()[0]}, reading.cache->length_, DataType::INT64);
    lengths = own.stage->place(whole, Shard(0), Replicate());
  }
  for (int64_t i = own.first_layer; i < own.end_layer; ++i) {
    try {
      const auto index = static_cast<uint64_t>(i);
      const uint64_t noise = reading.noise + 1 + index * kSitesPerLayer;
      if (reading.cache) {
        const Past past{reading.cache->layers_[index], lengths};
        x = block(layers_[index], x, noise, &past);
      } else {
        x = run_layer(index, x, noise);
      }
    } catch (Error& error) {
      error.note("called from layer " + std::to_string(i));
      throw;
    }
  }
  return x;
}

Tensor Gpt::embed(const Reading& reading) const {
  const Stage& stage = stages_.front();
  const Tensor ids = stage.place(reading.ids, Shard(0), Replicate());
  // Each rank along tp looks up its part of the vocabulary: the result is a partial sum.
  const Tensor tokens = split_sequence(embedding(ids, token_embedding_), stage);
  const int64_t first = reading.cache ? reading.cache->length_ : 0;
  return with_dropout(add(tokens, embed_positions(first, ids.shape()[1])), reading.noise);
}

Tensor Gpt::embed_positions(int64_t first, int64_t count) const {
  if (count == model_.seq_len) return position_embedding_;
  return embedding(arange(first, first + count, 1), position_embedding_);
}

Tensor Gpt::logits(const Tensor& x) const {
  const Tensor h = whole_sequence(normalize(final_norm_, x), stages_.back());
  const Tensor logits = matmul(h, head_);
  return logits.dtype() == DataType::FLOAT32 ? logits : cast(logits, DataType::FLOAT32);
}

Tensor Gpt::head_loss(const Tensor& x, const Tensor& labels) const {
  const Tensor placed = stages_.back().place(labels, Shard(0), Replicate());
  return mean(std::get<1>(cross_entropy_with_softmax(logits(x), placed)));
}

Tensor Gpt::run_layer(size_t index, const Tensor& x, uint64_t noise) const {
  if (run_.recompute != Recompute::kFull) return block(layers_[index], x, noise, nullptr);
  return recompute(
      [this, index, noise](const auto& inputs) {
        return block(layers_[index], inputs[0], noise, nullptr);
      },
      {x});
}

Tensor Gpt::block(const Layer& layer, const Tensor& x, uint64_t noise, const Past* past) const {
  return mlp(layer, attention(layer, x, noise + kAfterAttention, past), noise + kAfterMlp);
}

Tensor Gpt::attention(const Layer& layer, const Tensor& x, uint64_t noise, const Past* past) const {
  const int64_t batch = x.shape()[0];
  const int64_t seq = x.shape()[1];
  const Tensor h = whole_sequence(normalize(layer.norm_attention, x), *layer.stage);
  // Columns of the fused weight are ordered head by head, so that a split by columns splits heads.
  const Tensor fused = reshape(add_into(matmul(h, layer.qkv.weight), layer.qkv.bias),
                               {batch, seq, model_.heads, 3, model_.head_size()});
  const Tensor mixed =
      run_.recompute == Recompute::kSelective && !past
          ? recompute([this](const auto& inputs) { return mixed_heads(inputs[0], nullptr); },
                      {fused})
          : mixed_heads(fused, past);
  const Tensor out = matmul(reshape(mixed, {batch, seq, model_.d_model}), layer.projection.weight);
  const Tensor sum = add_into(split_sequence(out, *layer.stage), layer.projection.bias);
  return add_into(with_dropout(sum, noise), x);
}

Tensor Gpt::mixed_heads(const Tensor& fused, const Past* past) const {
  const std::vector<Tensor> qkv = split_with_num(fused, 3, 3);
  const Tensor q = squeeze(qkv[0], {3});
  const Tensor k = squeeze(qkv[1], {3});
  const Tensor v = squeeze(qkv[2], {3});
  if (past) {
    auto& [keys, values] = past->cache;
    return std::get<0>(flash_attention_with_kvcache_(q, k, v, keys, values, past->lengths));
  }
  return std::get<0>(flash_attention(q, k, v, std::nullopt, std::nullopt, /*dropout=*/0.0f,
                                     /*causal=*/true, /*return_softmax=*/false, /*is_test=*/true));
}

Tensor Gpt::mlp(const Layer& layer, const Tensor& x, uint64_t noise) const {
  const Tensor h = whole_sequence(normalize(layer.norm_mlp, x), *layer.stage);
  const Tensor hidden =
      gelu(add_into(matmul(h, layer.up.weight), layer.up.bias), /*approximate=*/true);
  const Tensor out = matmul(hidden, layer.down.weight);
  const Tensor sum = add_into(split_sequence(out, *layer.stage), layer.down.bias);
  return add_into(with_dropout(sum, noise), x);
}

Tensor Gpt::normalize(const Norm& norm, const Tensor& x) const {
  return layer_norm(x, norm.scale, norm.shift, kNormEpsilon, /*begin_norm_axis=*/2);
}

Tensor Gpt::with_dropout(const Tensor& x, uint64_t noise) const {
  if (model_.dropout == 0.0) return x;
  const uint64_t seed = seed_for("dropout", static_cast<uint64_t>(model_.seed) ^ noise << 16);
  return dropout(x, std::nullopt, model_.dropout, /*is_test=*/false, "upscale_in_train",
                 static_cast<int>(seed >> 33), /*fix_seed=*/true);
}

Tensor Gpt::whole_sequence(const Tensor& x, const Stage& stage) const {
  if (!run_.sequence_parallel) return x;
  return stage.place(x, Shard(0), Replicate());
}

Tensor Gpt::split_sequence(const Tensor& x, const Stage& stage) const {
  return stage.place(x, Shard(0), sequence_placement());
}

Placement Gpt::sequence_placement() const {
  return run_.sequence_parallel ? Shard(1) : Replicate();
}

const Tensor& Gpt::parameter(std::string_view name) const {
  for (const auto& [known, parameter] : parameters_) {
    if (known == name) return parameter;
  }
  throw errors::NotFound("the model has no parameter '{}'.", name);
}

int64_t Gpt::num_parameters() const {
  int64_t count = 0;
  for (const auto& [name, parameter] : parameters_) count += parameter.numel();
  return count;
}

int64_t Gpt::parameter_bytes_here() const {
  int64_t bytes = 0;
  for (const auto& [name, parameter] : parameters_) {
    bytes += static_cast<int64_t>(parameter.nbytes_held());
  }
  return bytes;
}

}  // namespace phi::job
