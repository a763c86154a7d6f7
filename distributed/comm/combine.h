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
