// Gradients of tracked programs. The members of Tensor (requires_grad, backward, grad, ...) do the
// usual; here is the rest.
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

/// Nothing is tracked on this thread (this rank) while one lives.
class NoGrad {
 public:
  NoGrad() : mode_(false) {}

 private:
  autograd::GradMode mode_;
};

/// d(outputs)/d(inputs), each with the mesh and placements of its input; undefined where an input
/// does not lead to the outputs. Leaves keep nothing.
///
/// `grad_outputs`  as many as outputs, or none: then 1 for outputs of one element
/// Errors          as Tensor::backward; InvalidArgument if an input does not require a gradient
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {}, bool retain_graph = false);

/// Gradients of weights that a pass put off.
using DeferredGradients = autograd::DeferredWork<Tensor>;

/// As output.backward(grad), but of the leaves only `now` (undefined ones are passed over) receive
/// their gradients in this pass; what the others need is kept in `deferred` until its run().
/// Zero-bubble pipeline schedules compute gradients of weights where a stage would otherwise wait
/// (Qi et al. 2024).
void backward_deferring(const Tensor& output, const Tensor& grad, const std::vector<Tensor>& now,
                        DeferredGradients* deferred);

/// Calls f(inputs) without keeping what its backward pass needs; the pass calls f again, from
/// `inputs` and the tensors that f itself holds on to (Chen et al. 2016, "Training Deep Nets with
/// Sublinear Memory Cost"). f must compute the same values each time. The second call draws the same
/// random numbers as the first. Tensors that f writes to in place (running statistics, a count) are
/// updated by the first call alone: the second call starts from the values before the first, and
/// its writes are undone. A copy of each is kept until then. Returns f's result, one defined tensor.
Tensor recompute(std::function<Tensor(const std::vector<Tensor>&)> f,
                 const std::vector<Tensor>& inputs);

}  // namespace phi
