// How two values are combined in a reduction between ranks, for every device.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "distributed/placement/placement.h"
#include "phi/common/complex.h"
#include "phi/common/dtype.h"
#include "phi/common/errors.h"
#include "phi/common/host_device.h"

namespace phi::distributed {

template <typename A>
PHI_HD bool is_nan(A a) {
  return a != a;
}

// Signed overflow wraps, as in the kernels that compute the values.
template <typename A>
PHI_HD A add(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
// Compilers may contract either multiplication of a two-term sum into an FMA, and choose
// differently per device. The explicit FMA fixes the choice, so ranks on GPUs get the same bits as
// ranks on CPUs.
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

/// The sum of up to 2^30 int64 values. It never overflows, because the upper and the lower halves
/// are summed separately.
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

/// The accumulator type for reducing values of T.
template <ReduceKind kKind, typename T>
using reduction_t = std::conditional_t<kKind == ReduceKind::kAvg && std::is_same_v<T, int64_t>,
                                       WideSum, accumulator_t<T>>;

/// Whether a mean of this type may overflow in its sum although the mean is finite.
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

/// The mean of `count` values whose plain sum overflowed: each value is scaled by a power of two
/// before it is added. Infinities and NaN among the values propagate as in the sum.
template <typename A>
class LargeMean {
 public:
  PHI_HD explicit LargeMean(int64_t count) : count_(static_cast<RealType>(count)) {
    while (RealType(1) / scale_ < count_) scale_ /= RealType(2);
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
  using RealType = typename RealOf<A>::type;

  RealType count_;
  RealType scale_ = RealType(1);
  A sum_ = A(0);
};

/// Combines two accumulators. In max and min NaN wins.
template <ReduceKind kKind, typename A>
PHI_HD A combine(A a, A b) {
  if constexpr (kKind == ReduceKind::kSum || kKind == ReduceKind::kAvg) return add(a, b);
  if constexpr (kKind == ReduceKind::kProd) return multiply(a, b);
  if constexpr (kKind == ReduceKind::kMax) return a < b || is_nan(b) ? b : a;
  if constexpr (kKind == ReduceKind::kMin) return b < a || is_nan(b) ? b : a;
  if constexpr (kKind == ReduceKind::kAny) return A(a != A(0) || b != A(0));
  if constexpr (kKind == ReduceKind::kAll) return A(a != A(0) && b != A(0));
}

/// The result of reducing `count` values whose accumulator is `sum` or `value`.
template <ReduceKind kKind, typename T>
PHI_HD T reduced(WideSum sum, int64_t count) {
  return static_cast<T>(sum.mean(count));
}
template <ReduceKind kKind, typename T, typename A>
PHI_HD T reduced(A value, int64_t count) {
  if constexpr (kKind == ReduceKind::kAvg) value /= static_cast<A>(count);
  if constexpr (kKind == ReduceKind::kAny || kKind == ReduceKind::kAll) {
    value = A(value != A(0));  // also for a single value
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

/// Calls visit.operator()<kKind>(). Errors: InvalidArgument for a kind that needs an order, if T is
/// complex.
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
