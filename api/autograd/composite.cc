// Gradients that are composed of operators.
#include "api/autograd/composite.h"

#include "api/autograd/sum_to_shape.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/complex.h"
#include "api/generated/ops/concat.h"
#include "api/generated/ops/conj.h"
#include "api/generated/ops/cumsum.h"
#include "api/generated/ops/divide.h"
#include "api/generated/ops/equal.h"
#include "api/generated/ops/expand_as.h"
#include "api/generated/ops/fold.h"
#include "api/generated/ops/full_like.h"
#include "api/generated/ops/greater_equal.h"
#include "api/generated/ops/imag.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/prod.h"
#include "api/generated/ops/real.h"
#include "api/generated/ops/reduce_as.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/slice.h"
#include "api/generated/ops/slice_scatter.h"
#include "api/generated/ops/split.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/sum.h"
#include "api/generated/ops/transpose.h"
#include "api/generated/ops/where.h"
#include "phi/infermeta/axes.h"

namespace phi::composite {
namespace {

Tensor zeros_like(const Tensor& x) { return full_like(x, 0.0); }

Tensor in_dtype(const Tensor& x, DataType dtype) { return x.dtype() == dtype ? x : cast(x, dtype); }

// In reshape an extent of 0 means the input's extent, so gradients of empty tensors are made by
// other means.
bool is_empty(const Tensor& x) { return x.shape().known() && x.numel() == 0; }

// The reduced tensor with the removed dims restored as extents of 1.
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

Tensor conjugate(const Tensor& x) { return is_complex(x.dtype()) ? conj(x) : x; }

}  // namespace

Tensor multiply_conjugate(const Tensor& x, const Tensor& y) { return multiply(x, conjugate(y)); }

Tensor divide_conjugate(const Tensor& x, const Tensor& y) { return divide(x, conjugate(y)); }

TensorPair add_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted) {
  TensorPair grads;
  if (wanted[0]) std::get<0>(grads) = sum_to_shape(out_grad, x);
  if (wanted[1]) std::get<1>(grads) = sum_to_shape(out_grad, y);
  return grads;
}

TensorPair subtract_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad,
                         GradMask wanted) {
  TensorPair grads;
  if (wanted[0]) std::get<0>(grads) = sum_to_shape(out_grad, x);
  if (wanted[1]) std::get<1>(grads) = scale(sum_to_shape(out_grad, y), -1.0);
  return grads;
}

TensorPair multiply_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad,
                         GradMask wanted) {
  TensorPair grads;
  if (wanted[0]) std::get<0>(grads) = sum_to_shape(multiply_conjugate(out_grad, y), x);
  if (wanted[1]) std::get<1>(grads) = sum_to_shape(multiply_conjugate(out_grad, x), y);
  return grads;
}

TensorPair divide_grad(const Tensor& x, const Tensor& y, const Tensor& out, const Tensor& out_grad,
                       GradMask wanted) {
  TensorPair grads;
  const Tensor by_y = divide_conjugate(out_grad, y);
  if (wanted[0]) std::get<0>(grads) = sum_to_shape(by_y, x);
  if (wanted[1]) std::get<1>(grads) = scale(sum_to_shape(multiply_conjugate(by_y, out), y), -1.0);
  return grads;
}

TensorPair maximum_grad(const Tensor& x, const Tensor& y, const Tensor& out_grad, GradMask wanted) {
  const Tensor not_less = greater_equal(x, y);
  // A tie: both comparisons hold (equal), or neither does (one of them is NaN).
  const Tensor ties = equal(not_less, greater_equal(y, x));
  const Tensor half = scale(out_grad, 0.5);
  const Tensor nothing = zeros_like(out_grad);
  TensorPair grads;
  if (wanted[0]) {
    const Tensor alone = where(not_less, out_grad, nothing);
    std::get<0>(grads) = sum_to_shape(where(ties, half, alone), x);
  }
  if (wanted[1]) {
    const Tensor alone = where(not_less, nothing, out_grad);
    std::get<1>(grads) = sum_to_shape(where(ties, half, alone), y);
  }
  return grads;
}

TensorPair where_grad(const Tensor& condition, const Tensor& x, const Tensor& y,
                      const Tensor& out_grad, GradMask wanted) {
  TensorPair grads;
  const Tensor nothing = zeros_like(out_grad);
  if (wanted[0]) std::get<0>(grads) = sum_to_shape(where(condition, out_grad, nothing), x);
  if (wanted[1]) std::get<1>(grads) = sum_to_shape(where(condition, nothing, out_grad), y);
  return grads;
}

TensorList add_n_grad(const TensorList& inputs, const Tensor& out_grad) {
  return TensorList(inputs.size(), out_grad);
}

TensorPair complex_grad(const Tensor& real, const Tensor& imag, const Tensor& out_grad,
                        GradMask wanted) {
  TensorPair grads;
  if (wanted[0]) std::get<0>(grads) = sum_to_shape(phi::real(out_grad), real);
  if (wanted[1]) std::get<1>(grads) = sum_to_shape(phi::imag(out_grad), imag);
  return grads;
}

Tensor angle_grad(const Tensor& x, const Tensor& out_grad) {
  if (!is_complex(x.dtype())) return zeros_like(x);
  const Tensor a = real(x);
  const Tensor b = imag(x);
  const Tensor turned = divide(out_grad, add(square(a), square(b)));
  return complex(phi::scale(multiply(b, turned), -1.0, 0.0, true), multiply(a, turned));
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
  // Counted in integers: float16 represents integers exactly up to 2048 only, bfloat16 up to 256.
  const Tensor count = sum(is_largest, axis, DataType::INT64, /*keepdim=*/true);
  const bool is_double = x.dtype() == DataType::FLOAT64;
  const DataType wide = is_double ? DataType::FLOAT64 : DataType::FLOAT32;
  const Tensor share =
      divide(in_dtype(with_reduced_dims(out_grad, x, axis), wide), cast(count, wide));
  const Tensor grad = expand_as(in_dtype(share, x.dtype()), x);
  return where(is_largest, grad, zeros_like(grad));
}

Tensor prod_grad(const Tensor& x, const Tensor& out_grad, const IntArray& axis, bool,
                 bool reduce_all) {
  if (is_empty(x)) return zeros_like(x);
  const IntArray axes = reduce_all ? IntArray() : axis;
  const Tensor factors = conjugate(x);
  const Tensor is_zero = equal(x, zeros_like(x));
  const Tensor zeros = sum(is_zero, axes, DataType::INT64, /*keepdim=*/true);
  const Tensor numbers = where(is_zero, full_like(x, 1.0), factors);
  const Tensor product = multiply(prod(numbers, axes, /*keepdim=*/true, /*reduce_all=*/false),
                                  with_reduced_dims(out_grad, x, axes));
  const Tensor nothing = zeros_like(product);
  const Tensor of_zero = where(equal(zeros, full_like(zeros, 1)), product, nothing);
  const Tensor of_number = where(equal(zeros, zeros_like(zeros)), product, nothing);
  return where(is_zero, of_zero, divide(of_number, numbers));
}

Tensor squared_l2_norm_grad(const Tensor& x, const Tensor& out_grad) {
  if (is_empty(x)) return zeros_like(x);
  const Tensor twice = scale(in_dtype(out_grad, x.dtype()), 2.0);
  return multiply(x, x.ndim() == 0 ? reshape(twice, Dims{}) : twice);
}

Tensor cumsum_grad(const Tensor& x, const Tensor& out_grad, const Scalar& axis, bool flatten,
                   bool exclusive, bool reverse) {
  if (is_empty(x)) return zeros_like(x);
  const Tensor grad = cumsum(out_grad, axis, flatten, exclusive, !reverse);
  return flatten ? reshape(grad, x.shape()) : grad;
}

Tensor reshape_grad(const Tensor& x, const Tensor& out_grad) {
  return is_empty(x) ? zeros_like(x) : reshape(out_grad, x.shape());
}

Tensor unfold_grad(const Tensor& x, const Tensor& out_grad, const std::vector<int>& kernel_sizes,
                   const std::vector<int>& strides, const std::vector<int>& paddings,
                   const std::vector<int>& dilations) {
  const std::vector<int> sizes = {static_cast<int>(x.shape()[2]), static_cast<int>(x.shape()[3])};
  return fold(out_grad, sizes, kernel_sizes, strides, paddings, dilations);
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
