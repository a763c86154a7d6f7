// scan: applies the same function once for each of several layers.
//
//   Tensor y = phi::scan(
//       [&](const Tensor& x, const TensorList& w) { return gelu(matmul(x, w[0])); }, x, layers);
//
// Outside a capture this is a loop. A capture calls the function once: the program has one body for
// any number of layers, and one for its backward pass (Bradbury et al. 2018, JAX's lax.scan, but
// without stacked arrays: each layer keeps its own tensors).
#pragma once

#include <functional>
#include <vector>

#include "api/tensor/tensor.h"

namespace phi {

using ScanFunction = std::function<Tensor(const Tensor& x, const TensorList& layer)>;

/// Returns f(... f(f(x, layers[0]), layers[1]) ..., layers[n-1]).
///
/// layers    one list per trip, with the same number of tensors, shapes, dtypes and placements in
///           each
/// Result    f must return a tensor of x's shape, dtype and placements; without layers the result
///           is x
/// Captured  f must access layers[i] through its argument, write only to tensors that it makes, and
///           pass seeds explicitly. Gradients of the layers' tensors are complete, and reach hooks,
///           only after the backward pass of all layers. If f passes no gradient to x, then x and
///           the tensors of earlier layers get zeros. Gradients of weights are not deferred
///           (backward_deferring). A nested scan is unrolled.
/// Errors    InvalidArgument, which names the layer and the tensor that differs, or the result of f
Tensor scan(const ScanFunction& f, const Tensor& x, const std::vector<TensorList>& layers);

}  // namespace phi
