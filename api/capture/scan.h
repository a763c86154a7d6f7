// scan: the same function applied once for each of several layers.
//
//   Tensor y = phi::scan(
//       [&](const Tensor& x, const TensorList& w) { return gelu(matmul(x, w[0])); }, x, layers);
//
// Written out it is a loop. Where a program is captured, the function is called once: the program
// has one body however many layers there are, and its backward pass another (Bradbury et al. 2018,
// JAX's lax.scan, without its stacked arrays: layers keep their own tensors).
#pragma once

#include <functional>
#include <vector>

#include "api/tensor/tensor.h"

namespace phi {

using ScanFunction = std::function<Tensor(const Tensor& x, const TensorList& layer)>;

/// f(... f(f(x, layers[0]), layers[1]) ..., layers[n-1]).
///
/// layers   one list for each trip: as many tensors, of the same shapes, dtypes and placements
/// Result   of f: as x, in shape, dtype and placements; x itself where there are no layers
/// Captured f must use layers[i] through its argument, write to nothing that it has not made, and
///          leave no seed out. The gradients of a layer's tensors arrive when all layers are through,
///          and hooks see them then; they are zeros where f lets none through to x. Gradients of
///          weights are not put off (backward_deferring). A scan in a scan is written out.
/// Errors   InvalidArgument naming the layer and the tensor that differs, or what f gives.
Tensor scan(const ScanFunction& f, const Tensor& x, const std::vector<TensorList>& layers);

}  // namespace phi
