// Elementwise C++ operators on tensors. The comment next to each names the operator that it calls.
// Shapes broadcast.
//
//   Tensor y = -(2.0f * x + 1.0f) / x;
//   Tensor kept = where(x > 0.0f, x, y);
//   y += x;                                  // writes to y and to tensors that share its bytes
//
// A number is converted to the dtype of the tensor operand. With an integer tensor it must be an
// integer that the dtype can represent; otherwise the error is an InvalidArgument that names both.
// Two tensors of different dtypes are an error of the called operator; x.to(dtype) converts one of
// them. `==` returns a tensor; use same_tensor(x, y) to test whether two handles share a tensor.
#pragma once

#include "api/tensor/tensor.h"
#include "phi/core/attribute.h"

namespace phi {

Tensor operator+(const Tensor& x, const Tensor& y);  // add
Tensor operator-(const Tensor& x, const Tensor& y);  // subtract
Tensor operator*(const Tensor& x, const Tensor& y);  // multiply
/// divide. The quotient of two integer tensors is float32; division by 0 yields infinity or NaN.
Tensor operator/(const Tensor& x, const Tensor& y);

Tensor operator+(const Tensor& x, const Scalar& y);  // scale
Tensor operator+(const Scalar& x, const Tensor& y);
Tensor operator-(const Tensor& x, const Scalar& y);
Tensor operator-(const Scalar& x, const Tensor& y);
Tensor operator*(const Tensor& x, const Scalar& y);
Tensor operator*(const Scalar& x, const Tensor& y);
/// Divides each element by y. Does not multiply by 1/y, which has other bits.
Tensor operator/(const Tensor& x, const Scalar& y);
Tensor operator/(const Scalar& x, const Tensor& y);

Tensor operator-(const Tensor& x);  // scale

/// Inplace: write to x by add_, subtract_, multiply_, divide_ and scale_. All handles on x and all
/// views of it see the result, which must have x's shape. Under gradient tracking it is an error to
/// write to a leaf or to a value that a gradient needs; use `x = x + y` for these.
Tensor& operator+=(Tensor& x, const Tensor& y);
Tensor& operator-=(Tensor& x, const Tensor& y);
Tensor& operator*=(Tensor& x, const Tensor& y);
Tensor& operator/=(Tensor& x, const Tensor& y);
Tensor& operator+=(Tensor& x, const Scalar& y);
Tensor& operator-=(Tensor& x, const Scalar& y);
Tensor& operator*=(Tensor& x, const Scalar& y);
Tensor& operator/=(Tensor& x, const Scalar& y);

// Comparisons return bool tensors without gradients. If an operand is NaN, all but != are false.
Tensor operator==(const Tensor& x, const Tensor& y);  // equal
Tensor operator!=(const Tensor& x, const Tensor& y);  // not_equal
Tensor operator<(const Tensor& x, const Tensor& y);   // greater_than of y and x
Tensor operator<=(const Tensor& x, const Tensor& y);  // greater_equal of y and x
Tensor operator>(const Tensor& x, const Tensor& y);   // greater_than
Tensor operator>=(const Tensor& x, const Tensor& y);  // greater_equal
Tensor operator==(const Tensor& x, const Scalar& y);
Tensor operator!=(const Tensor& x, const Scalar& y);
Tensor operator<(const Tensor& x, const Scalar& y);
Tensor operator<=(const Tensor& x, const Scalar& y);
Tensor operator>(const Tensor& x, const Scalar& y);
Tensor operator>=(const Tensor& x, const Scalar& y);
Tensor operator==(const Scalar& x, const Tensor& y);
Tensor operator!=(const Scalar& x, const Tensor& y);
Tensor operator<(const Scalar& x, const Tensor& y);
Tensor operator<=(const Scalar& x, const Tensor& y);
Tensor operator>(const Scalar& x, const Tensor& y);
Tensor operator>=(const Scalar& x, const Tensor& y);

}  // namespace phi
