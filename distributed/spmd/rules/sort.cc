// Ordering along an axis as factors: the axis is not even looked at.
#include "distributed/spmd/rules/sort.h"

#include "distributed/spmd/rules/names.h"

namespace phi::distributed {
namespace {

Factors along(const TensorSpec& x, int axis) {
  const Names names = names_without(x.ndim(), axis);
  return Factors().input(x, names).output(names).output(names);
}

// The gradient of `like`, one of the tensors.
Factors gradient(std::initializer_list<const TensorSpec*> tensors, int like, int axis) {
  Factors rule;
  for (const TensorSpec* tensor : tensors) rule.input(*tensor, names_without(tensor->ndim(), axis));
  return rule.output_like(like);
}

}  // namespace

SpmdRule TopkInferSpmd(const TensorSpec& x, const Scalar&, int axis, bool, bool) {
  return along(x, axis);
}
SpmdRule ArgSortInferSpmd(const TensorSpec& x, int axis, bool, bool) { return along(x, axis); }
SpmdRule CummaxInferSpmd(const TensorSpec& x, int axis, DataType) { return along(x, axis); }
SpmdRule CumminInferSpmd(const TensorSpec& x, int axis, DataType) { return along(x, axis); }

SpmdRule TopkGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                           const TensorSpec& out_grad, const Scalar&, int axis, bool, bool) {
  return gradient({&x, &indices, &out_grad}, 0, axis);
}
SpmdRule ArgSortGradInferSpmd(const TensorSpec& indices, const TensorSpec& x,
                              const TensorSpec& out_grad, int axis, bool, bool) {
  return gradient({&indices, &x, &out_grad}, 1, axis);
}
SpmdRule CummaxGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                             const TensorSpec& out_grad, int axis, DataType) {
  return gradient({&x, &indices, &out_grad}, 0, axis);
}
SpmdRule CumminGradInferSpmd(const TensorSpec& x, const TensorSpec& indices,
                             const TensorSpec& out_grad, int axis, DataType) {
  return gradient({&x, &indices, &out_grad}, 0, axis);
}

}  // namespace phi::distributed
