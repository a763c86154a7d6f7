// Gradient functions that are not members of Tensor (which has requires_grad, backward, grad, ...):
// NoGrad, gradients of given inputs, deferred gradients of weights, and recomputation.
//
//   w.set_requires_grad();
//   mean(square(matmul(x, w))).backward();
//   { NoGrad no_grad;  scaled_sgd_(w, w.grad(), none, full({}, 0.1f)); }
#pragma once

#include <functional>
#include <vector>

#include "api/tensor/tensor.h"
#include "phi/autograd/engine.h"
#include "phi/autograd/grad_mode.h"

namespace phi {

/// Disables tracking on the calling thread (rank) for the lifetime of the object.
class NoGrad {
 public:
  NoGrad() : mode_(false) {}

 private:
  autograd::GradMode mode_;
};

/// Returns d(outputs)/d(inputs), each with the mesh and placements of its input; undefined if the
/// outputs do not depend on an input. Does not accumulate gradients in leaves.
///
/// `grad_outputs`  one per output, or empty: 1 for each output, which must have one element
/// Errors          those of Tensor::backward; InvalidArgument if an input does not require a
///                 gradient
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {}, bool retain_graph = false);

/// Gradients of weights that a backward pass deferred.
using DeferredGradients = autograd::DeferredWork<Tensor>;

/// Same as output.backward(grad), but only the leaves `now` receive their gradients in this pass;
/// undefined elements of `now` are ignored. `deferred` stores the work for the other leaves until
/// its run(). Zero-bubble pipeline schedules compute gradients of weights while a stage would
/// otherwise wait (Qi et al. 2024).
void backward_deferring(const Tensor& output, const Tensor& grad, const std::vector<Tensor>& now,
                        DeferredGradients* deferred);

/// Calls f(inputs) without saving tensors for its backward pass. The backward pass calls f again,
/// with `inputs` and the tensors that f captures (Chen et al. 2016, "Training Deep Nets with
/// Sublinear Memory Cost"). f must compute the same values each time. The second call draws the
/// same random numbers as the first. Tensors that f writes to in place (running statistics, a
/// count) are updated by the first call only: the second call starts from the values before the
/// first, and its writes are undone. A copy of each is kept until then. Returns f's result, one
/// defined tensor.
Tensor recompute(std::function<Tensor(const std::vector<Tensor>&)> f,
                 const std::vector<Tensor>& inputs);

}  // namespace phi
