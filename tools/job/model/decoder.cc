// Parameters, chunks and passes of a decoder.
#include "tools/job/model/decoder.h"

#include <optional>
#include <tuple>

#include "api/capture/scan.h"
#include "distributed/placement/split.h"
#include "phi/api.h"
#include "phi/common/errors.h"

namespace phi::job {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::TensorDistAttr;
using distributed::checkpoint::Checkpoint;

Decoder::Decoder(const ModelConfig& model, const RunConfig& run, const ProcessMesh& mesh,
                 const Checkpoint* weights)
    : model_(model),
      run_(run),
      sequence_(run.sequence_parallel),
      architecture_(make_architecture(model, run)),
      stages_(stages_of(mesh)),
      parameters_(model, run) {
  declare_parameters();
  parameters_.fill(weights);
}

void Decoder::declare_parameters() {
  const int64_t d = model_.d_model;
  const Stage& last = stages_.back();
  token_embedding_ = parameters_.gaussian("token_embedding", {model_.vocab, d},
                                          Architecture::kWeightStd, stages_[0], Shard(0));
  positions_ = architecture_->make_positions(stages_[0], &parameters_);
  declare_chunks();
  final_norm_ = architecture_->make_norm("final_norm", last, &parameters_);
  head_ = parameters_.gaussian("head", {d, model_.vocab}, Architecture::kWeightStd, last, Shard(1));
}

void Decoder::declare_chunks() {
  const auto num_chunks = static_cast<int64_t>(stages_.size()) * run_.chunks;
  for (int64_t c = 0; c < num_chunks; ++c) {
    const Stage& stage = stages_[static_cast<size_t>(c) % stages_.size()];
    const auto own = distributed::split_range(model_.layers, num_chunks, c);
    for (int64_t i = own.offset; i < own.end(); ++i) {
      const std::string name = "layer" + std::to_string(i) + ".";
      layers_.push_back(architecture_->make_layer(name, stage, &parameters_));
    }
    chunks_.push_back({&stage, own.offset, own.end()});
  }
}

const TensorDistAttr* Decoder::input_attr(int chunk) const {
  return chunks_[static_cast<size_t>(chunk)].stage->attr(Shard(0), sequence_.along_tp());
}

Tensor Decoder::place_ids(const Tensor& ids) const {
  return stages_.front().place(ids, Shard(0), Replicate());
}

Tensor Decoder::place_labels(const Tensor& labels) const {
  return stages_.back().place(labels, Shard(0), Replicate());
}

Tensor Decoder::loss(const Batch& batch) const {
  Tensor x;
  for (int chunk = 0; chunk < num_chunks(); ++chunk) x = forward(chunk, on_chunk(chunk, x), batch);
  return x;
}

Tensor Decoder::forward(int chunk, const Tensor& input, const Batch& batch) const {
  const Tensor x = run_chunk(chunk, input, {batch.ids, batch.noise});
  return chunk + 1 == num_chunks() ? head_loss(x, batch.labels) : x;
}

KeyValueCache Decoder::make_cache(int64_t batch) const {
  const Dims shape{batch, model_.seq_len, architecture_->kv_heads(), model_.head_size()};
  KeyValueCache cache;
  for (const Chunk& chunk : chunks_) {
    const auto room = [&] {
      return chunk.stage->place(deferred_full(shape, 0.0f, run_.dtype), Shard(0), Shard(2));
    };
    for (int64_t i = chunk.first_layer; i < chunk.end_layer; ++i) {
      cache.layers_.push_back({room(), room()});
    }
  }
  return cache;
}

Tensor Decoder::next_logits(const Tensor& ids, KeyValueCache* cache) const {
  const NoGrad no_grad;
  const int64_t count = ids.shape()[1];
  const int64_t held = cache ? cache->length_ : 0;
  PHI_CHECK(count >= 1 && held + count <= model_.seq_len,
            errors::InvalidArgument("{} positions behind {} read before are not 1 to seq_len {}; "
                                    "clear the cache and read fewer.",
                                    count, held, model_.seq_len));
  const Tensor out = logits_behind(ids, full({1}, held, DataType::INT64), cache);
  if (cache) cache->advance(count);
  return out;
}

Tensor Decoder::logits_behind(const Tensor& ids, const Tensor& first, KeyValueCache* cache) const {
  const NoGrad no_grad;
  const int64_t count = ids.shape()[1];
  Tensor x;
  for (int chunk = 0; chunk < num_chunks(); ++chunk) {
    x = run_chunk(chunk, on_chunk(chunk, x), {.ids = ids, .cache = cache, .first = first});
  }
  return logits(count == 1 ? x : slice(x, {1}, {count - 1}, {count}));
}

Tensor Decoder::on_chunk(int chunk, const Tensor& x) const {
  if (chunk == 0) return x;
  const auto* attr = input_attr(chunk);
  return distributed::reshard(x, attr->mesh(), attr->placements());
}

Tensor Decoder::run_chunk(int chunk, const Tensor& input, const Reading& reading) const {
  const Chunk& own = chunks_[static_cast<size_t>(chunk)];
  return run_layers(own, chunk == 0 ? embed(reading) : input, reading);
}

Tensor Decoder::embed(const Reading& reading) const {
  const Tensor ids = place_ids(reading.ids);
  // Each rank along tp looks up its part of the vocabulary: the result is a partial sum.
  const Tensor tokens = sequence_.split(embedding(ids, token_embedding_));
  return architecture_->add_positions(positions_, tokens, reading.first, reading.noise);
}

Tensor Decoder::run_layers(const Chunk& chunk, Tensor x, const Reading& reading) const {
  if (has_equal_layers(reading)) {
    const auto run = [&](const Tensor& h, const TensorList& w) {
      return run_layer(w, h, 0, nullptr);
    };
    return scan(run, x, {layers_.begin() + chunk.first_layer, layers_.begin() + chunk.end_layer});
  }
  KeyValueCache* cache = reading.cache;
  Tensor lengths;
  if (cache) {
    const Tensor whole = expand(reading.first, {x.shape()[0]});
    lengths = chunk.stage->place(whole, Shard(0), Replicate());
  }
  for (int64_t i = chunk.first_layer; i < chunk.end_layer; ++i) {
    try {
      const auto index = static_cast<size_t>(i);
      std::optional<Past> past;
      if (cache) past.emplace(Past{cache->layers_[index], lengths});
      const uint64_t noise = reading.noise + 1 + index * Architecture::kSeedsPerLayer;
      x = run_layer(layers_[index], x, noise, past ? &*past : nullptr);
    } catch (Error& error) {
      error.note("called from layer " + std::to_string(i));
      throw;
    }
  }
  return x;
}

// Zero-bubble schedules put gradients of weights off, which a scan does not.
bool Decoder::has_equal_layers(const Reading& reading) const {
  const bool puts_off = run_.schedule.starts_with("zb_");
  return run_.capture && !reading.cache && model_.dropout == 0.0 && !puts_off;
}

Tensor Decoder::run_layer(const TensorList& layer, const Tensor& x, uint64_t noise,
                          const Past* past) const {
  if (run_.recompute != Recompute::kFull || past) {
    return architecture_->layer(layer, x, noise, past);
  }
  return recompute(
      [this, layer, noise](const auto& inputs) {
        return architecture_->layer(layer, inputs[0], noise, nullptr);
      },
      {x});
}

Tensor Decoder::logits(const Tensor& x) const {
  const Tensor h = sequence_.whole(architecture_->normalize(final_norm_, x));
  const Tensor logits = matmul(h, head_);
  return logits.dtype() == DataType::FLOAT32 ? logits : cast(logits, DataType::FLOAT32);
}

Tensor Decoder::head_loss(const Tensor& x, const Tensor& labels) const {
  return mean(std::get<1>(cross_entropy_with_softmax(logits(x), place_labels(labels))));
}

}  // namespace phi::job
