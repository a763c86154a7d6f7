// Implements the C++ operators by calls of operators that are declared in the YAML.
#include "api/tensor/operators.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "api/generated/ops/add.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/divide.h"
#include "api/generated/ops/equal.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/greater_equal.h"
#include "api/generated/ops/greater_than.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/not_equal.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/subtract.h"
#include "api/tensor/scalar_operand.h"
#include "phi/common/errors.h"

namespace phi {
namespace {

template <typename T>
bool has_number(const Scalar& value) {
  if constexpr (!std::is_integral_v<T>) {
    return true;
  } else if (is_floating(value.dtype())) {
    // Both bounds are powers of 2, or 0, which double represents exactly.
    const auto number = value.to<double>();
    const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
    return std::trunc(number) == number && number < above &&
           number >= (std::is_signed_v<T> ? -above : 0.0);
  } else {
    return std::in_range<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>(
               value.to<int64_t>()) &&
           (!std::is_same_v<T, bool> || value.to<int64_t>() <= 1);
  }
}

// x * k with a bias of -0: adding +0 would turn a result of -0 into +0.
Tensor times(const Tensor& x, const Scalar& k) { return scale(x, k, -0.0); }

// -value in the dtype of x. A floating 0 keeps its sign.
Scalar negative(const Tensor& x, const Scalar& value) {
  if (is_floating(x.dtype())) return -value.to<double>();
  // Computed as unsigned: the lowest integer has no positive counterpart and wraps around, as in
  // the operators.
  return static_cast<int64_t>(0 - static_cast<uint64_t>(value.to<int64_t>()));
}

}  // namespace

const Scalar& checked_scalar(const Tensor& x, const Scalar& value, const char* use) {
  const bool fits = visit_dtype(x.dtype(), [&]<typename T>() { return has_number<T>(value); });
  PHI_CHECK(fits, errors::InvalidArgument(
                      "{} cannot be {} {}: {} cannot represent it; cast the tensor (x.to(dtype)).",
                      value.to_string(), use, x.to_string(), name_of(x.dtype())));
  return value;
}

Tensor scalar_like(const Tensor& x, const Scalar& value, const char* use) {
  return full({}, checked_scalar(x, value, use), x.dtype());
}

Tensor Tensor::to(DataType dtype) const {
  return this->dtype() == dtype ? *this : cast(*this, dtype);
}

Tensor operator+(const Tensor& x, const Tensor& y) { return add(x, y); }
Tensor operator-(const Tensor& x, const Tensor& y) { return subtract(x, y); }
Tensor operator*(const Tensor& x, const Tensor& y) { return multiply(x, y); }
Tensor operator/(const Tensor& x, const Tensor& y) { return divide(x, y); }

Tensor operator+(const Tensor& x, const Scalar& y) {
  return scale(x, 1, checked_scalar(x, y, "added to"));
}
Tensor operator+(const Scalar& x, const Tensor& y) { return y + x; }
Tensor operator-(const Tensor& x, const Scalar& y) {
  return scale(x, 1, negative(x, checked_scalar(x, y, "subtracted from")));
}
Tensor operator-(const Scalar& x, const Tensor& y) {
  return subtract(scalar_like(y, x, "the minuend of"), y);
}
Tensor operator*(const Tensor& x, const Scalar& y) {
  return times(x, checked_scalar(x, y, "multiplied with"));
}
Tensor operator*(const Scalar& x, const Tensor& y) { return y * x; }
Tensor operator/(const Tensor& x, const Scalar& y) {
  return divide(x, scalar_like(x, y, "the divisor of"));
}
Tensor operator/(const Scalar& x, const Tensor& y) {
  return divide(scalar_like(y, x, "the dividend of"), y);
}

Tensor operator-(const Tensor& x) { return times(x, -1); }

Tensor& operator+=(Tensor& x, const Tensor& y) { return add_(x, y); }
Tensor& operator-=(Tensor& x, const Tensor& y) { return subtract_(x, y); }
Tensor& operator*=(Tensor& x, const Tensor& y) { return multiply_(x, y); }
Tensor& operator/=(Tensor& x, const Tensor& y) { return divide_(x, y); }
Tensor& operator+=(Tensor& x, const Scalar& y) {
  return scale_(x, 1, checked_scalar(x, y, "added to"));
}
Tensor& operator-=(Tensor& x, const Scalar& y) {
  return scale_(x, 1, negative(x, checked_scalar(x, y, "subtracted from")));
}
Tensor& operator*=(Tensor& x, const Scalar& y) {
  return scale_(x, checked_scalar(x, y, "multiplied with"), -0.0);
}
Tensor& operator/=(Tensor& x, const Scalar& y) {
  return divide_(x, scalar_like(x, y, "the divisor of"));
}

Tensor operator==(const Tensor& x, const Tensor& y) { return equal(x, y); }
Tensor operator!=(const Tensor& x, const Tensor& y) { return not_equal(x, y); }
Tensor operator<(const Tensor& x, const Tensor& y) { return greater_than(y, x); }
Tensor operator<=(const Tensor& x, const Tensor& y) { return greater_equal(y, x); }
Tensor operator>(const Tensor& x, const Tensor& y) { return greater_than(x, y); }
Tensor operator>=(const Tensor& x, const Tensor& y) { return greater_equal(x, y); }

namespace {
Tensor compared(const Tensor& x, const Scalar& y) { return scalar_like(x, y, "compared with"); }
}  // namespace

Tensor operator==(const Tensor& x, const Scalar& y) { return x == compared(x, y); }
Tensor operator!=(const Tensor& x, const Scalar& y) { return x != compared(x, y); }
Tensor operator<(const Tensor& x, const Scalar& y) { return x < compared(x, y); }
Tensor operator<=(const Tensor& x, const Scalar& y) { return x <= compared(x, y); }
Tensor operator>(const Tensor& x, const Scalar& y) { return x > compared(x, y); }
Tensor operator>=(const Tensor& x, const Scalar& y) { return x >= compared(x, y); }
Tensor operator==(const Scalar& x, const Tensor& y) { return compared(y, x) == y; }
Tensor operator!=(const Scalar& x, const Tensor& y) { return compared(y, x) != y; }
Tensor operator<(const Scalar& x, const Tensor& y) { return compared(y, x) < y; }
Tensor operator<=(const Scalar& x, const Tensor& y) { return compared(y, x) <= y; }
Tensor operator>(const Scalar& x, const Tensor& y) { return compared(y, x) > y; }
Tensor operator>=(const Scalar& x, const Tensor& y) { return compared(y, x) >= y; }

}  // namespace phi
