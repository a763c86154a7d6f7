// Lookups in tables of tokens and positions, and the output head.
#include "api/nn/layers/embedding.h"

#include "api/generated/ops/add.h"
#include "api/generated/ops/arange.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/embedding.h"
#include "api/generated/ops/matmul.h"
#include "api/nn/key_value_cache.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layout/layout.h"
#include "distributed/api.h"

namespace phi::nn {

using distributed::Replicate;
using distributed::Shard;

Embedding::Embedding(Module& parent, const Name& name, int64_t count, int64_t d, Initialiser table)
    : Layer(parent, name), table_(parameter("", {count, d}, std::move(table))) {}

Tensor Embedding::forward(const Tensor& ids) const { return embedding(ids, table_); }

// Each rank along tp looks up ids in its shard of the table, so the output is a partial sum.
void Embedding::add_tensor_parallel(Layout* layout, const std::string& tp,
                                    bool sequence_parallel) const {
  layout->inputs(path(), {});  // the placements of batches
  layout->parameters(parameter_name(""), {{tp, Shard(0)}});
  layout->outputs(path(), {{tp, placement_between_matmuls(sequence_parallel)}});
}

PositionEmbedding::PositionEmbedding(Module& parent, const Name& name, int64_t positions, int64_t d,
                                     Initialiser table)
    : Layer(parent, name), table_(parameter("", {positions, d}, std::move(table))) {}

Tensor PositionEmbedding::forward(const Tensor& x) const { return add(x, rows(x.shape()[1])); }

Tensor PositionEmbedding::rows(int64_t count) const {
  if (count == table_.shape()[0]) return table_;
  const Tensor steps = arange(0, count, 1);
  const KeyValueCache* cache = forward_context().cache;
  return embedding(cache ? add(steps, cache->first()) : steps, table_);
}

Head::Head(Module& parent, const Name& name, int64_t d, int64_t count, Initialiser weight)
    : Layer(parent, name), weight_(&parameter("", {d, count}, std::move(weight))) {}

Head::Head(Module& parent, const Name& name, const Embedding& embedding)
    : Layer(parent, name), embedding_(&embedding) {}

Tensor Head::forward(const Tensor& x) const {
  const Tensor logits = project(x);
  return logits.dtype() == DataType::FLOAT32 ? logits : cast(logits, DataType::FLOAT32);
}

Tensor Head::project(const Tensor& x) const {
  if (weight_) return matmul(x, *weight_);
  Tensor table = embedding_->table();
  // In a pipeline the tied table is on the first stage.
  if (mesh() && table.mesh() != *mesh()) {
    table = distributed::reshard(table, *mesh(), table.placements());
  }
  return matmul(x, table, /*transpose_x=*/false, /*transpose_y=*/true);
}

void Head::add_tensor_parallel(Layout* layout, const std::string& tp,
                               bool sequence_parallel) const {
  if (weight_) layout->parameters(parameter_name(""), {{tp, Shard(1)}});
  if (sequence_parallel) layout->inputs(path(), {{tp, Replicate()}});
}

}  // namespace phi::nn
