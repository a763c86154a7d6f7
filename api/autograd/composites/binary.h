// Operators of two tensors, and gradients of such operators, that are composed of other operators.
#pragma once

#include <tuple>

#include "api/call/grad_mask.h"
#include "api/tensor/tensor.h"

namespace phi::composite {

/// The gradients of x and y; the weight has none.
std::tuple<Tensor, Tensor> lerp_grad(const Tensor& x, const Tensor& y, const Tensor& weight,
                                     const Tensor& out_grad, GradMask wanted);

/// The Kronecker product: block i of the result is element i of x times y. The shorter shape is
/// padded with leading extents of 1. Errors: InvalidArgument if an intermediate needs more tensor
/// dims than kMaxNdim.
Tensor kron(const Tensor& x, const Tensor& y);

/// The p-norm of x - y over all elements; x and y broadcast.
Tensor dist(const Tensor& x, const Tensor& y, float p);

/// Returns the sum of x (reduction 0), its mean (1), or x (2). Errors: InvalidArgument for another
/// reduction.
Tensor identity_loss(const Tensor& x, int reduction);

}  // namespace phi::composite
