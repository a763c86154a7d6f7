// Gradients made of other operators.
#include "api/autograd/composite.h"

#include "api/generated/ops/add.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/concat.h"
#include "api/generated/ops/divide.h"
#include "api/generated/ops/equal.h"
#include "api/generated/ops/expand_as.h"
#include "api/generated/ops/full_like.h"
#include "api/generated/ops/greater_equal.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/reduce_as.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/slice.h"
#include "api/generated/ops/slice_scatter.h"
#include "api/generated/ops/split.h"
#include "api/generated/ops/sum.h"
#include "api/generated/ops/transpose.h"
#include "api/generated/ops/where.h"
#include "phi/infermeta/axes.h"

namespace phi::composite {
namespace {

// The sum of `grad` over the dims along which an argument of this shape was broadcast.
Tensor reduced_to(const Tensor& grad, const Tensor& argument) {
  return grad.shape() == argument.shape() ? grad : reduce_as(grad, argument);
}

Tensor zeros_like(const Tensor& x) { return full_like(x, 0.0); }

Tensor in_dtype(const Tensor& x, DataType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

// To reshape an extent of 0 says to copy its input's: gradients of empty tensors are made anew.
bool is_empty(const Tensor& x) { return x.shape().known() && x.numel() == 0; }

// A reduced tensor with the dims that were removed back as 1.
Tensor with_reduced_dims(const Tensor& reduced, const Tensor& x, const IntArray& axis) {
  const AxisSet gone = normalise_axes(axis, x.shape());
  Dims dims = x.shape();
  for (int d = 0; d < dims.ndim(); ++d) {
    if (gone.has(d)) dims[d] = 1;
  }
  return reduced.shape() == dims ? reduced : reshape(reduced, dims);
}

int64_t reduced_count(const Tensor& x, const IntArray& axis) {
  const AxisSet gone = normalise_axes(axis, x.shape());
  int64_t count = 1;
  for (int d = 0; d < x.ndim(); ++d) count *= gone.has(d) ? x.shape()[d] : 1;
  return count;
}

}  // namespace

TensorPair add_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted) {
  TensorPair grads;
  if (wanted[0]) std::get<0>(grads) = reduced_to(out_grad, x);
  if (wanted[1]) std::get<1>(grads) = reduced_to(out_grad, y);
  return grads;
}

TensorPair subtract_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad,
                         GradMask wanted) {
  TensorPair grads;
  if (wanted[0]) std::get<0>(grads) = reduced_to(out_grad, x);
  if (wanted[1]) std::get<1>(grads) = scale(reduced_to(out_grad, y), -1.0);
  return grads;
}

TensorPair multiply_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad,
                         GradMask wanted) {
  TensorPair grads;
  if (wanted[0]) std::get<0>(grads) = reduced_to(multiply(out_grad, y), x);
  if (wanted[1]) std::get<1>(grads) = reduced_to(multiply(out_grad, x), y);
  return grads;
}

TensorPair divide_grad(const Tensor& x, const Tensor& y, const Tensor& out, const Tensor& out_grad,
                       GradMask wanted) {
  TensorPair grads;
  const Tensor by_y = divide(out_grad, y);
  if (wanted[0]) std::get<0>(grads) = reduced_to(by_y, x);
  if (wanted[1]) std::get<1>(grads) = scale(reduced_to(multiply(by_y, out), y), -1.0);
  return grads;
}

TensorPair maximum_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted) {
  const Tensor not_less = greater_equal(x, y);
  // Both or, beside NaN, neither is at least the other.
  const Tensor ties = equal(not_less, greater_equal(y, x));
  const Tensor half = scale(out_grad, 0.5);
  const Tensor nothing = zeros_like(out_grad);
  TensorPair grads;
  if (wanted[0]) {
    const Tensor alone = where(not_less, out_grad, nothing);
    std::get<0>(grads) = reduced_to(where(ties, half, alone), x);
  }
  if (wanted[1]) {
    const Tensor alone = where(not_less, nothing, out_grad);
    std::get<1>(grads) = reduced_to(where(ties, half, alone), y);
  }
  return grads;
}

TensorPair where_grad(const Tensor& condition, const Tensor& x, const Tensor& y,
                      const Tensor& out_grad, GradMask wanted) {
  TensorPair grads;
  const Tensor nothing = zeros_like(out_grad);
  if (wanted[0]) std::get<0>(grads) = reduced_to(where(condition, out_grad, nothing), x);
  if (wanted[1]) std::get<1>(grads) = reduced_to(where(condition, nothing, out_grad), y);
  return grads;
}

TensorList add_n_grad(const TensorList& inputs, const Tensor& out_grad) {
  return TensorList(inputs.size(), out_grad);
}

Tensor sum_grad(const Tensor& x, const Tensor& out_grad, const IntArray& axis, bool) {
  if (is_empty(x)) return zeros_like(x);
  return expand_as(with_reduced_dims(in_dtype(out_grad, x.dtype()), x, axis), x);
}

Tensor mean_grad(const Tensor& x, const Tensor& out_grad, const IntArray& axis, bool) {
  if (is_empty(x)) return zeros_like(x);
  const double count = static_cast<double>(reduced_count(x, axis));
  return expand_as(scale(with_reduced_dims(out_grad, x, axis), 1.0 / count), x);
}

Tensor max_grad(const Tensor& x, const Tensor& out, const Tensor& out_grad, const IntArray& axis,
                bool) {
  if (is_empty(x)) return zeros_like(x);
  const Tensor is_largest = equal(x, with_reduced_dims(out, x, axis));
  // Integers count: 16-bit floats would stop at 2048, or at 256.
  const Tensor count = sum(is_largest, axis, DataType::INT64, /*keepdim=*/true);
  const bool is_double = x.dtype() == DataType::FLOAT64;
  const DataType wide = is_double ? DataType::FLOAT64 : DataType::FLOAT32;
  const Tensor share =
      divide(in_dtype(with_reduced_dims(out_grad, x, axis), wide), cast(count, wide));
  const Tensor grad = expand_as(in_dtype(share, x.dtype()), x);
  return where(is_largest, grad, zeros_like(grad));
}

Tensor reshape_grad(const Tensor& x, const Tensor& out_grad) {
  return is_empty(x) ? zeros_like(x) : reshape(out_grad, x.shape());
}

Tensor transpose_grad(const Tensor& out_grad, const std::vector<int>& perm) {
  std::vector<int> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) {
    const int from = perm[i] < 0 ? perm[i] + static_cast<int>(perm.size()) : perm[i];
    inverse[static_cast<size_t>(from)] = static_cast<int>(i);
  }
  return transpose(out_grad, inverse);
}

TensorPair slice_scatter_grad(const Tensor& value, const Tensor& out_grad,
                              const std::vector<int64_t>& axes, const IntArray& starts,
                              const IntArray& ends, const std::vector<int64_t>& decrease_axis,
                              GradMask wanted) {
  TensorPair grads;
  if (wanted[0]) {
    std::get<0>(grads) =
        slice_scatter(out_grad, zeros_like(value), axes, starts, ends, decrease_axis);
  }
  if (wanted[1]) std::get<1>(grads) = slice(out_grad, axes, starts, ends, {}, decrease_axis);
  return grads;
}

TensorList concat_grad(const TensorList& x, const Tensor& out_grad, const Scalar& axis) {
  const int along = normalise_axis(axis.to<int64_t>(), out_grad.ndim(), out_grad.shape());
  std::vector<int64_t> sections;
  for (const Tensor& part : x) sections.push_back(part.shape()[along]);
  return split(out_grad, sections, along);
}

}  // namespace phi::composite
