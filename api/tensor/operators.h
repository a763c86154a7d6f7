// Operators of C++ on tensors, elementwise: what they call is beside them. Shapes broadcast.
//
//   Tensor y = -(2.0f * x + 1.0f) / x;
//   Tensor kept = where(x > 0.0f, x, y);
//   y += x;                                  // writes to y: whoever shares its bytes sees it
//
// A number takes the dtype of the tensor beside it. Numbers of integer tensors are whole ones that
// the dtype has: InvalidArgument, naming both, else. Tensors of two dtypes are refused by the
// operators that are called: x.to(dtype) is a tensor of another one. `==` gives a tensor: whether
// two handles are on one tensor is same_tensor(x, y).
#pragma once

#include "api/tensor/tensor.h"
#include "phi/core/attribute.h"

namespace phi {

Tensor operator+(const Tensor& x, const Tensor& y);  // add
Tensor operator-(const Tensor& x, const Tensor& y);  // subtract
Tensor operator*(const Tensor& x, const Tensor& y);  // multiply
/// divide: of integers a float32, infinite or NaN where one is divided by 0.
Tensor operator/(const Tensor& x, const Tensor& y);

Tensor operator+(const Tensor& x, const Scalar& y);  // scale
Tensor operator+(const Scalar& x, const Tensor& y);
Tensor operator-(const Tensor& x, const Scalar& y);
Tensor operator-(const Scalar& x, const Tensor& y);
Tensor operator*(const Tensor& x, const Scalar& y);
Tensor operator*(const Scalar& x, const Tensor& y);
/// Divided, and not multiplied by 1/y, which has other bits.
Tensor operator/(const Tensor& x, const Scalar& y);
Tensor operator/(const Scalar& x, const Tensor& y);

Tensor operator-(const Tensor& x);  // scale

/// Write to x, as add_, subtract_, multiply_, divide_ and scale_ do: all handles on it, and views
/// of it, see the result, which must have its shape. With gradients: a leaf is not written to, nor
/// is a value that a gradient needs; `x = x + y` is right there.
Tensor& operator+=(Tensor& x, const Tensor& y);
Tensor& operator-=(Tensor& x, const Tensor& y);
Tensor& operator*=(Tensor& x, const Tensor& y);
Tensor& operator/=(Tensor& x, const Tensor& y);
Tensor& operator+=(Tensor& x, const Scalar& y);
Tensor& operator-=(Tensor& x, const Scalar& y);
Tensor& operator*=(Tensor& x, const Scalar& y);
Tensor& operator/=(Tensor& x, const Scalar& y);

// Comparisons: bool tensors, without gradients. With NaN on a side all but != are false.
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
