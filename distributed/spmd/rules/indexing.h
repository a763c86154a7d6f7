// Sharding rules of ops that read or write elements at positions given by a tensor.
//
// The addressed dims of the tensor that is read or written must be whole, because any rank may
// address any element. For reads the positions may be split: each rank reads for its own. For
// writes they must be whole.
#pragma once

#include <span>
#include <string>

#include "distributed/spmd/rule.h"
#include "phi/core/attribute.h"

namespace phi::distributed {

/// index [..., k] addresses the first k dims of x; out is [..., the other dims of x].
SpmdRule GatherNdInferSpmd(const TensorSpec& x, const TensorSpec& index);
/// The gradient is Partial(sum) where positions are split.
SpmdRule GatherNdGradInferSpmd(const TensorSpec& x, const TensorSpec& index,
                               const TensorSpec& out_grad);

/// The same as gather, with a number as axis.
SpmdRule IndexSelectInferSpmd(const TensorSpec& x, const TensorSpec& index, int axis);
SpmdRule IndexSelectGradInferSpmd(const TensorSpec& x, const TensorSpec& index,
                                  const TensorSpec& out_grad, int axis);

/// Along the axis arr is whole and indices may be split. Other dims are sharded alike where arr and
/// indices have the same size, and are whole elsewhere. out is sharded like indices.
SpmdRule TakeAlongAxisInferSpmd(const TensorSpec& arr, const TensorSpec& indices, int axis);
/// The gradient is Partial(sum) where indices are split along the axis.
SpmdRule TakeAlongAxisGradInferSpmd(const TensorSpec& arr, const TensorSpec& indices,
                                    const TensorSpec& out_grad, int axis);
/// The axis is whole in all tensors; other dims are sharded as in take_along_axis.
SpmdRule PutAlongAxisInferSpmd(const TensorSpec& arr, const TensorSpec& indices,
                               const TensorSpec& values, int axis, const std::string& reduce,
                               bool include_self);
/// Gradients of arr and values.
SpmdRule PutAlongAxisGradInferSpmd(const TensorSpec& arr, const TensorSpec& indices,
                                   const TensorSpec& values, const TensorSpec& out,
                                   const TensorSpec& out_grad, int axis, const std::string& reduce,
                                   bool include_self);

/// Replaces or adds to rows of x. Rows are whole in x and updates; other dims are sharded alike.
SpmdRule ScatterInferSpmd(const TensorSpec& x, const TensorSpec& index, const TensorSpec& updates,
                          bool overwrite);
/// Gradients of x and updates.
SpmdRule ScatterGradInferSpmd(const TensorSpec& index, const TensorSpec& updates,
                              const TensorSpec& out_grad, bool overwrite);
/// The inverse of gather_nd: updates are added to x at index.
SpmdRule ScatterNdAddInferSpmd(const TensorSpec& x, const TensorSpec& index,
                               const TensorSpec& updates);
/// Gradients of x, which is out_grad, and of updates. For that of updates index may be split.
SpmdRule ScatterNdAddGradInferSpmd(const TensorSpec& index, const TensorSpec& updates,
                                   const TensorSpec& out_grad);

/// Each tensor of `indices`, of an integer dtype, addresses one of the first dims of x. The last
/// dims of value are sharded like the other dims of x.
SpmdRule IndexPutInferSpmd(const TensorSpec& x, std::span<const TensorSpec> indices,
                           const TensorSpec& value, bool accumulate);
/// Gradients of x and value. That of value is Partial(sum) where value was broadcast along a split
/// dim.
SpmdRule IndexPutGradInferSpmd(const TensorSpec& x, std::span<const TensorSpec> indices,
                               const TensorSpec& value, const TensorSpec& out_grad,
                               bool accumulate);

/// out[i] is the sum over k of x[scatter_index[i, k]] * combine_weights[i, k]. The rows of x are
/// whole, and out is Partial(sum) where k is split.
SpmdRule MoeCombineInferSpmd(const TensorSpec& x, const TensorSpec& combine_weights,
                             const TensorSpec& scatter_index);
/// Gradients of x and combine_weights. That of x is Partial(sum) where tokens or k are split.
SpmdRule MoeCombineGradInferSpmd(const TensorSpec& x, const TensorSpec& combine_weights,
                                 const TensorSpec& scatter_index, const TensorSpec& grad_y);

}  // namespace phi::distributed
