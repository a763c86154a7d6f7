// Sharding rules of embedding, gather and one_hot.
#pragma once

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// A split vocabulary makes the output Partial(sum): each rank contributes the rows that it holds.
SpmdRule EmbeddingInferSpmd(const TensorSpec& x, const TensorSpec& weight, int64_t padding_idx,
                            bool sparse);
/// The same as embedding; start_index is the first row that a rank holds.
SpmdRule CEmbeddingInferSpmd(const TensorSpec& weight, const TensorSpec& x, int64_t start_index,
                             int64_t vocab_size);
SpmdRule CEmbeddingGradInferSpmd(const TensorSpec& weight, const TensorSpec& x,
                                 const TensorSpec& out_grad, int64_t start_index);
/// The gradient is Partial(sum) where ids are split. A split vocabulary stays split, unless a split
/// of the ids takes the mesh dim: each rank sums the rows that it holds.
SpmdRule EmbeddingGradInferSpmd(const TensorSpec& x, const TensorSpec& weight,
                                const TensorSpec& out_grad);
/// The gathered axis must be whole.
SpmdRule GatherInferSpmd(const TensorSpec& x, const TensorSpec& index, const Scalar& axis);
/// The gradient is Partial(sum) where indices are split.
SpmdRule GatherGradInferSpmd(const TensorSpec& x, const TensorSpec& index,
                             const TensorSpec& out_grad, const Scalar& axis);
SpmdRule OneHotInferSpmd(const TensorSpec& x, const Scalar& num_classes);

}  // namespace phi::distributed
