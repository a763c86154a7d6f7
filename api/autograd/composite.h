// Gradients made of other operators (`composite` in yaml/backward). Being made of operators
// they are distributed, clipped and differentiable without more. `wanted` says which of several
// results to compute; the others stay undefined.
#pragma once

#include <tuple>
#include <vector>

#include "api/call/grad_mask.h"
#include "api/tensor/tensor.h"

namespace phi::composite {

using TensorPair = std::tuple<Tensor, Tensor>;

TensorPair add_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted);
TensorPair subtract_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted);
TensorPair multiply_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted);
TensorPair divide_grad(const Tensor& x, const Tensor& y, const Tensor& out, const Tensor& out_grad,
                       GradMask wanted);
/// Where x and y are equal, or one of them is NaN, each gets half of the gradient.
TensorPair maximum_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted);
TensorPair where_grad(const Tensor& condition, const Tensor& x, const Tensor& y,
                      const Tensor& out_grad, GradMask wanted);
TensorList add_n_grad(const TensorList& inputs, const Tensor& out_grad);

Tensor sum_grad(const Tensor& x, const Tensor& out_grad, const IntArray& axis, bool keepdim);
Tensor mean_grad(const Tensor& x, const Tensor& out_grad, const IntArray& axis, bool keepdim);
/// Elements equal to the largest share the gradient equally, over all ranks; none gets any where
/// NaN is the largest.
Tensor max_grad(const Tensor& x, const Tensor& out, const Tensor& out_grad, const IntArray& axis,
                bool keepdim);

/// Also of squeeze and unsqueeze.
Tensor reshape_grad(const Tensor& x, const Tensor& out_grad);
Tensor transpose_grad(const Tensor& out_grad, const std::vector<int>& perm);
TensorPair slice_scatter_grad(const Tensor& value, const Tensor& out_grad,
                              const std::vector<int64_t>& axes, const IntArray& starts,
                              const IntArray& ends, const std::vector<int64_t>& decrease_axis,
                              GradMask wanted);
TensorList concat_grad(const TensorList& x, const Tensor& out_grad, const Scalar& axis);

}  // namespace phi::composite
