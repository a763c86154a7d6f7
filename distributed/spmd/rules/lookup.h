// Rules of ops that look rows up.
#pragma once

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// A split vocabulary makes the output Partial(sum): each rank adds the rows that it has.
SpmdRule EmbeddingInferSpmd(const TensorSpec& x, const TensorSpec& weight, int64_t padding_idx,
                            bool sparse);
/// As embedding, with the rows that a rank has told by start_index.
SpmdRule CEmbeddingInferSpmd(const TensorSpec& weight, const TensorSpec& x, int64_t start_index,
                             int64_t vocab_size);
SpmdRule CEmbeddingGradInferSpmd(const TensorSpec& weight, const TensorSpec& x,
                                 const TensorSpec& out_grad, int64_t start_index);
/// Split ids make the gradient Partial(sum); a split vocabulary stays split, as each rank sums for
/// the rows that it has, where no split of the ids takes the mesh dim.
SpmdRule EmbeddingGradInferSpmd(const TensorSpec& x, const TensorSpec& weight,
                                const TensorSpec& out_grad);
/// The axis that is looked up must be whole.
SpmdRule GatherInferSpmd(const TensorSpec& x, const TensorSpec& index, const Scalar& axis);
/// Split indices make the gradient Partial(sum).
SpmdRule GatherGradInferSpmd(const TensorSpec& x, const TensorSpec& index,
                             const TensorSpec& out_grad, const Scalar& axis);
SpmdRule OneHotInferSpmd(const TensorSpec& x, const Scalar& num_classes);

}  // namespace phi::distributed
