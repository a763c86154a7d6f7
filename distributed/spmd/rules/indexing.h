// Rules of ops that read or write elements at positions that a tensor holds.
//
// What is addressed is whole in the tensor that is read or written, as any rank may ask for any of
// it. Reading lets positions be split, each rank reads for its own; writing needs all of them.
#pragma once

#include <span>
#include <string>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// index [..., k] addresses the first k dims of x; out is [..., the other dims of x].
SpmdRule GatherNdInferSpmd(const TensorSpec& x, const TensorSpec& index);
/// Split positions make the gradient Partial(sum).
SpmdRule GatherNdGradInferSpmd(const TensorSpec& x, const TensorSpec& index,
                               const TensorSpec& out_grad);

/// As gather, whose axis is a number here.
SpmdRule IndexSelectInferSpmd(const TensorSpec& x, const TensorSpec& index, int axis);
SpmdRule IndexSelectGradInferSpmd(const TensorSpec& x, const TensorSpec& index,
                                  const TensorSpec& out_grad, int axis);

/// Along the axis arr is whole and indices may be split; other dims lie alike where arr and indices
/// have the same size, and are whole where not. out lies as indices.
SpmdRule TakeAlongAxisInferSpmd(const TensorSpec& arr, const TensorSpec& indices, int axis);
/// Indices split along the axis make the gradient Partial(sum).
SpmdRule TakeAlongAxisGradInferSpmd(const TensorSpec& arr, const TensorSpec& indices,
                                    const TensorSpec& out_grad, int axis);
/// The axis is whole in all; other dims as in take_along_axis.
SpmdRule PutAlongAxisInferSpmd(const TensorSpec& arr, const TensorSpec& indices,
                               const TensorSpec& values, int axis, const std::string& reduce,
                               bool include_self);
/// Gradients of arr and values.
SpmdRule PutAlongAxisGradInferSpmd(const TensorSpec& arr, const TensorSpec& indices,
                                   const TensorSpec& values, const TensorSpec& out,
                                   const TensorSpec& out_grad, int axis, const std::string& reduce,
                                   bool include_self);

/// Rows of x are replaced or added to: rows are whole in x and updates, other dims lie alike.
SpmdRule ScatterInferSpmd(const TensorSpec& x, const TensorSpec& index, const TensorSpec& updates,
                          bool overwrite);
/// Gradients of x and updates.
SpmdRule ScatterGradInferSpmd(const TensorSpec& index, const TensorSpec& updates,
                              const TensorSpec& out_grad, bool overwrite);
/// As gather_nd the other way: updates are added to x at index.
SpmdRule ScatterNdAddInferSpmd(const TensorSpec& x, const TensorSpec& index,
                               const TensorSpec& updates);
/// Gradients of x, which is out_grad, and of updates, for which index may be split.
SpmdRule ScatterNdAddGradInferSpmd(const TensorSpec& index, const TensorSpec& updates,
                                   const TensorSpec& out_grad);

/// indices, integers, address the first dims of x, one each; the dims of value on the right lie as
/// the other dims of x.
SpmdRule IndexPutInferSpmd(const TensorSpec& x, std::span<const TensorSpec> indices,
                           const TensorSpec& value, bool accumulate);
/// Gradients of x and value: where value was broadcast over a split dim, its gradient is
/// Partial(sum).
SpmdRule IndexPutGradInferSpmd(const TensorSpec& x, std::span<const TensorSpec> indices,
                               const TensorSpec& value, const TensorSpec& out_grad,
                               bool accumulate);

/// out[i] is the sum over k of x[scatter_index[i, k]] * combine_weights[i, k]: the rows of x are
/// whole, and a split k makes out Partial(sum).
SpmdRule MoeCombineInferSpmd(const TensorSpec& x, const TensorSpec& combine_weights,
                             const TensorSpec& scatter_index);
/// Gradients of x, Partial(sum) where tokens or k are split, and of combine_weights.
SpmdRule MoeCombineGradInferSpmd(const TensorSpec& x, const TensorSpec& combine_weights,
                                 const TensorSpec& scatter_index, const TensorSpec& grad_y);

}  // namespace phi::distributed
