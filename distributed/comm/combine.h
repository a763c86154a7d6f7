// How two values are combined in a reduction between ranks, on every device.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "distributed/placement/placement.h"
#include "phi/common/complex.h"
#include "phi/common/dtype.h"
#include "phi/common/errors.h"
#include "phi/common/hd.h"

namespace phi::distributed {

template <typename A>
PHI_HD bool is_nan(A a) {
  return a != a;
}

// Signed overflow wraps, as it does in the kernels that made the values.
template <typename A>
PHI_HD A add(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
// Compilers may fuse either product of a sum of two, on one device one, on another the other: here
// one is, everywhere, so that ranks on GPUs have the bits of those on CPUs.
template <typename R>
PHI_HD Complex<R> multiply(Complex<R> a, Complex<R> b) {
  const Complex<R> product(std::fma(a.real(), b.real(), -(a.imag() * b.imag())),
                           std::fma(a.real(), b.imag(), a.imag() * b.real()));
  return is_nan(product.real() + product.imag()) ? a * b : product;  // infinities
}
template <typename A>
PHI_HD A multiply(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

/// The sum of up to 2^30 values of int64, which never overflows: that of their upper halves and
/// that of their lower ones.
struct WideSum {
  PHI_HD WideSum() {}
  PHI_HD explicit WideSum(int64_t value) : high(value >> 32), low(value & int64_t{0xffffffff}) {}
  /// The sum divided by `count` and rounded toward zero.
  PHI_HD int64_t mean(int64_t count) const {
    int64_t quotient = high / count;
    int64_t rest = high % count;
    if (rest < 0) {
      rest += count;
      --quotient;
    }
    rest = rest * (int64_t{1} << 32) + low;
    const int64_t floor = quotient * (int64_t{1} << 32) + rest / count;
    return floor < 0 && rest % count != 0 ? floor + 1 : floor;
  }

  int64_t high = 0;
  int64_t low = 0;
};
PHI_HD WideSum add(WideSum a, WideSum b) {
  a.high += b.high;
  a.low += b.low;
  return a;
}

/// What values of T are combined in.
template <ReduceKind kKind, typename T>
using reduction_t = std::conditional_t<kKind == ReduceKind::kAvg && std::is_same_v<T, int64_t>,
                                       WideSum, accumulator_t<T>>;

/// Means of these have sums that may be infinite where the mean is not.
template <ReduceKind kKind, typename T>
inline constexpr bool kMayOverflow = kKind == ReduceKind::kAvg && !std::is_integral_v<T>;

template <typename R>
PHI_HD bool is_finite(R value) {
  return value - value == R(0);
}
template <typename R>
PHI_HD bool is_finite(Complex<R> value) {
  return is_finite(value.real()) && is_finite(value.imag());
}

/// The mean of `count` values whose sum overflowed: each is scaled by a power of two before it is
/// added. Infinities and NaN among them are those of the sum.
template <typename A>
class LargeMean {
 public:
  PHI_HD explicit LargeMean(int64_t count) : count_(static_cast<Real>(count)) {
    while (Real(1) / scale_ < count_) scale_ /= Real(2);
  }
  PHI_HD void add(A value) { sum_ = sum_ + value * scale_; }
  PHI_HD A mean() const { return sum_ / count_ / scale_; }

 private:
  template <typename T>
  struct RealOf {
    using type = T;
  };
  template <typename R>
  struct RealOf<Complex<R>> {
    using type = R;
  };
  using Real = typename RealOf<A>::type;

  Real count_;
  Real scale_ = Real(1);
  A sum_ = A(0);
};

/// NaN wins in max and min.
template <ReduceKind kKind, typename A>
PHI_HD A combine(A a, A b) {
  if constexpr (kKind == ReduceKind::kSum || kKind == ReduceKind::kAvg) return add(a, b);
  if constexpr (kKind == ReduceKind::kProd) return multiply(a, b);
  if constexpr (kKind == ReduceKind::kMax) return a < b || is_nan(b) ? b : a;
  if constexpr (kKind == ReduceKind::kMin) return b < a || is_nan(b) ? b : a;
  if constexpr (kKind == ReduceKind::kAny) return A(a != A(0) || b != A(0));
  if constexpr (kKind == ReduceKind::kAll) return A(a != A(0) && b != A(0));
}

/// What `count` values that were combined to `value` are reduced to.
template <ReduceKind kKind, typename T>
PHI_HD T reduced(WideSum sum, int64_t count) {
  return static_cast<T>(sum.mean(count));
}
template <ReduceKind kKind, typename T, typename A>
PHI_HD T reduced(A value, int64_t count) {
  if constexpr (kKind == ReduceKind::kAvg) value /= static_cast<A>(count);
  if constexpr (kKind == ReduceKind::kAny || kKind == ReduceKind::kAll) {
    value = A(value != A(0));  // also of one
  }
  if constexpr (std::is_same_v<T, bool>) {
    return value != A(0);
  } else {
    return static_cast<T>(value);
  }
}

[[noreturn]] inline void throw_no_order(DataType dtype, ReduceKind kind) {
  throw errors::InvalidArgument("{} values have no {}; reduce their real and imaginary parts.",
                                name_of(dtype), name_of(kind));
}

/// Calls visit.operator()<kKind>(). Errors: InvalidArgument for an order of complex values.
template <typename T, typename Visit>
void visit_reduce_kind(ReduceKind kind, Visit&& visit) {
  if (kind == ReduceKind::kSum) return visit.template operator()<ReduceKind::kSum>();
  if (kind == ReduceKind::kAvg) return visit.template operator()<ReduceKind::kAvg>();
  if (kind == ReduceKind::kProd) return visit.template operator()<ReduceKind::kProd>();
  if constexpr (kIsComplex<T>) {
    throw_no_order(dtype_of<T>(), kind);
  } else if (kind == ReduceKind::kMax) {
    visit.template operator()<ReduceKind::kMax>();
  } else if (kind == ReduceKind::kMin) {
    visit.template operator()<ReduceKind::kMin>();
  } else if (kind == ReduceKind::kAny) {
    visit.template operator()<ReduceKind::kAny>();
  } else {
    visit.template operator()<ReduceKind::kAll>();
  }
}

}  // namespace phi::distributed
