// Gradients that are composed of operators (`composite` in yaml/backward), and operators that are
// composed of other operators. Sharding, clipping and differentiation follow from the operators
// that they call. `wanted` selects which results to compute; the others stay undefined.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "api/call/grad_mask.h"
#include "api/tensor/tensor.h"

namespace phi::composite {

using TensorPair = std::tuple<Tensor, Tensor>;

/// x multiplied, or divided, by the conjugate of y. The conjugate of a real y is y.
Tensor multiply_conjugate(const Tensor& x, const Tensor& y);
Tensor divide_conjugate(const Tensor& x, const Tensor& y);

TensorPair add_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted);
TensorPair subtract_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted);
TensorPair multiply_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted);
TensorPair divide_grad(const Tensor& x, const Tensor& y, const Tensor& out, const Tensor& out_grad,
                       GradMask wanted);
/// If x and y are equal, or one of them is NaN, each receives half of the gradient.
TensorPair maximum_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted);
TensorPair where_grad(const Tensor& condition, const Tensor& x, const Tensor& y,
                      const Tensor& out_grad, GradMask wanted);
TensorList add_n_grad(const TensorList& inputs, const Tensor& out_grad);
TensorPair complex_grad(const Tensor& real, const Tensor& imag, const Tensor& out_grad,
                        GradMask wanted);
/// The gradient is 0 for real numbers.
Tensor angle_grad(const Tensor& x, const Tensor& out_grad);

Tensor sum_grad(const Tensor& x, const Tensor& out_grad, const IntArray& axis, bool keepdim);
Tensor mean_grad(const Tensor& x, const Tensor& out_grad, const IntArray& axis, bool keepdim);
/// The gradient of max and min. Elements equal to the result share the gradient equally, over all
/// ranks. If the result is NaN, every element's gradient is 0.
Tensor max_grad(const Tensor& x, const Tensor& out, const Tensor& out_grad, const IntArray& axis,
                bool keepdim);

/// An element's gradient is out_grad times the product of the other elements. It does not divide by
/// elements of 0, so their gradients are exact too.
Tensor prod_grad(const Tensor& x, const Tensor& out_grad, const IntArray& axis, bool keepdim,
                 bool reduce_all);
Tensor squared_l2_norm_grad(const Tensor& x, const Tensor& out_grad);
/// A cumulative sum of out_grad in the opposite direction.
Tensor cumsum_grad(const Tensor& x, const Tensor& out_grad, const Scalar& axis, bool flatten,
                   bool exclusive, bool reverse);

/// The gradient of reshape, squeeze and unsqueeze.
Tensor reshape_grad(const Tensor& x, const Tensor& out_grad);
Tensor transpose_grad(const Tensor& out_grad, const std::vector<int>& perm);
TensorPair slice_scatter_grad(const Tensor& value, const Tensor& out_grad,
                              const std::vector<int64_t>& axes, const IntArray& starts,
                              const IntArray& ends, const std::vector<int64_t>& decrease_axis,
                              GradMask wanted);
Tensor unfold_grad(const Tensor& x, const Tensor& out_grad, const std::vector<int>& kernel_sizes,
                   const std::vector<int>& strides, const std::vector<int>& paddings,
                   const std::vector<int>& dilations);
TensorList concat_grad(const TensorList& x, const Tensor& out_grad, const Scalar& axis);

// Operators that call other operators (`invoke` in yaml/ops).

/// Returns activation(x y + bias). Activations: "none", "relu" and "gelu" (the tanh approximation).
/// The second result, which Paddle keeps for the backward pass, is undefined: the called operators
/// save their own tensors. Errors: InvalidArgument for another activation.
TensorPair fused_gemm_epilogue(const Tensor& x, const Tensor& y, const Tensor& bias, bool trans_x,
                               bool trans_y, const std::string& activation);
/// flash_attention with `scale` (1 / sqrt(head_dim) if it is not positive). If cu_seqlens_q and
/// cu_seqlens_k are passed, flash_attn_unpadded of the only batch entry. Returns output, logsumexp
/// and seed_and_offset. Errors: InvalidArgument for arguments that neither operator supports.
std::tuple<Tensor, Tensor, Tensor> memory_efficient_attention(
    const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& bias,
    const OptionalTensor& cu_seqlens_q, const OptionalTensor& cu_seqlens_k,
    const OptionalTensor& causal_diagonal, const OptionalTensor& seqlen_k,
    const Scalar& max_seqlen_q, const Scalar& max_seqlen_k, bool causal, double dropout_p,
    float scale, bool is_test);

}  // namespace phi::composite
