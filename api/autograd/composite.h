// Gradients made of other operators (`composite` in yaml/backward), and operators that are. Being
// made of operators they are distributed, clipped and differentiable without more. `wanted` says
// which of several results to compute; the others stay undefined.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "api/call/grad_mask.h"
#include "api/tensor/tensor.h"

namespace phi::composite {

using TensorPair = std::tuple<Tensor, Tensor>;

/// x times, or by, the conjugate of y, which is y itself where that is real.
Tensor multiply_conjugate(const Tensor& x, const Tensor& y);
Tensor divide_conjugate(const Tensor& x, const Tensor& y);

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
TensorPair complex_grad(const Tensor& real, const Tensor& imag, const Tensor& out_grad,
                        GradMask wanted);
/// 0 for real numbers.
Tensor angle_grad(const Tensor& x, const Tensor& out_grad);

Tensor sum_grad(const Tensor& x, const Tensor& out_grad, const IntArray& axis, bool keepdim);
Tensor mean_grad(const Tensor& x, const Tensor& out_grad, const IntArray& axis, bool keepdim);
/// Also of min. Elements equal to the largest share the gradient equally, over all ranks; none gets
/// any where NaN is the largest.
Tensor max_grad(const Tensor& x, const Tensor& out, const Tensor& out_grad, const IntArray& axis,
                bool keepdim);

/// Each element's is that of the product of the others, which is not divided by 0.
Tensor prod_grad(const Tensor& x, const Tensor& out_grad, const IntArray& axis, bool keepdim,
                 bool reduce_all);
Tensor squared_l2_norm_grad(const Tensor& x, const Tensor& out_grad);
/// Summed from the other end.
Tensor cumsum_grad(const Tensor& x, const Tensor& out_grad, const Scalar& axis, bool flatten,
                   bool exclusive, bool reverse);

/// Also of squeeze and unsqueeze.
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

// Operators that are calls of others (`invoke` in yaml/ops).

/// activation(x y + bias), none, relu or gelu (the approximation by tanh); nothing is kept for a
/// backward pass beside what that keeps itself: the second result is undefined.
/// Errors: InvalidArgument for another activation.
TensorPair fused_gemm_epilogue(const Tensor& x, const Tensor& y, const Tensor& bias, bool trans_x,
                               bool trans_y, const std::string& activation);
/// flash_attention with `scale` (1 / sqrt(head_dim) if that is not positive), and, where
/// cu_seqlens_q and cu_seqlens_k are given, flash_attn_unpadded of the one batch entry. Gives
/// output, logsumexp and seed_and_offset. Errors: InvalidArgument for what neither of them does.
std::tuple<Tensor, Tensor, Tensor> memory_efficient_attention(
    const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& bias,
    const OptionalTensor& cu_seqlens_q, const OptionalTensor& cu_seqlens_k,
    const OptionalTensor& causal_diagonal, const OptionalTensor& seqlen_k,
    const Scalar& max_seqlen_q, const Scalar& max_seqlen_k, bool causal, double dropout_p,
    float scale, bool is_test);

}  // namespace phi::composite
