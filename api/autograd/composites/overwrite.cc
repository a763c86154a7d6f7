// Operators that overwrite a tensor of any earlier shape and dtype.
#include "api/autograd/composites/overwrite.h"

#include "api/generated/ops/assign.h"
#include "api/generated/ops/fill.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/slice_scatter.h"
#include "distributed/api.h"

namespace phi::composite {

Tensor& assign_into(const Tensor& x, Tensor& output) {
  if (output.shape() == x.shape() && output.dtype() == x.dtype()) {
    return slice_scatter_(output, x, {}, {}, {}, {});  // no axes: the slice is the whole tensor
  }
  const Tensor copy = assign(x);
  output.replace(copy);
  output.set_grad_link(copy.grad_link());
  return output;
}

Tensor& full_into(Tensor& output, const IntArray& shape, const Scalar& value, DataType dtype,
                  const Place& place) {
  if (output.shape() == Dims(shape.values()) && output.dtype() == dtype) {
    return fill_(output, value);
  }
  const Tensor made = full(shape, value, dtype, place);
  const bool is_dist = output.is_dist();
  return assign_into(is_dist ? distributed::shard_tensor(made, output.mesh(), {}) : made, output);
}

}  // namespace phi::composite
