// Operators of two tensors, and gradients of such, that are made of other operators.
#pragma once

#include <tuple>

#include "api/call/grad_mask.h"
#include "api/tensor/tensor.h"

namespace phi::composite {

/// Of x and y; the weight has none.
std::tuple<Tensor, Tensor> lerp_grad(const Tensor& x, const Tensor& y, const Tensor& weight,
                                     const Tensor& out_grad, GradMask wanted);

/// The Kronecker product: each element of x times all of y, block by block. Dims that one of them
/// lacks in front are 1. Errors: InvalidArgument for more dims than a tensor has.
Tensor kron(const Tensor& x, const Tensor& y);

/// The p-norm of x - y, which broadcast, over all elements.
Tensor dist(const Tensor& x, const Tensor& y, float p);

/// The sum of x (reduction 0), its mean (1), or x itself (2). Errors: InvalidArgument for others.
Tensor identity_loss(const Tensor& x, int reduction);

}  // namespace phi::composite
