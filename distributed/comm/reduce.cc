// The arithmetic of reductions. A block of accumulators stays in the first-level cache while all
// inputs are added to it, so each input is read once and the output written once.
#include "distributed/comm/reduce.h"

#include <algorithm>
#include <limits>

#include "phi/common/errors.h"
#include "phi/core/device/host_array.h"

namespace phi::distributed {
namespace {

constexpr int64_t kBlock = 1024;

// Signed overflow wraps, as it does in the kernels that made the values.
template <typename A>
A add(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
template <typename A>
A multiply(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}
template <typename A>
bool is_nan(A a) {
  return a != a;
}

template <ReduceKind kKind, typename A>
A combine(A a, A b) {
  if constexpr (kKind == ReduceKind::kSum || kKind == ReduceKind::kAvg) return add(a, b);
  if constexpr (kKind == ReduceKind::kProd) return multiply(a, b);
  if constexpr (kKind == ReduceKind::kMax) return a < b || is_nan(b) ? b : a;
  if constexpr (kKind == ReduceKind::kMin) return b < a || is_nan(b) ? b : a;
  if constexpr (kKind == ReduceKind::kAny) return A(a != A(0) || b != A(0));
  if constexpr (kKind == ReduceKind::kAll) return A(a != A(0) && b != A(0));
}

[[noreturn]] void throw_no_order(DataType dtype, ReduceKind kind) {
  throw errors::InvalidArgument("{} values have no {}; reduce their real and imaginary parts.",
                                name_of(dtype), name_of(kind));
}

template <typename T, ReduceKind kKind>
void reduce_typed(std::span<const void* const> inputs, T* out, int64_t count) {
  using A = accumulator_t<T>;
  alignas(64) A block[kBlock];
  const auto n = static_cast<A>(static_cast<int64_t>(inputs.size()));
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t size = std::min(kBlock, count - begin);
    const T* first = static_cast<const T*>(inputs[0]) + begin;
    for (int64_t i = 0; i < size; ++i) block[i] = static_cast<A>(first[i]);
    for (size_t j = 1; j < inputs.size(); ++j) {
      const T* next = static_cast<const T*>(inputs[j]) + begin;
      for (int64_t i = 0; i < size; ++i) {
        block[i] = combine<kKind, A>(block[i], static_cast<A>(next[i]));
      }
    }
    if constexpr (kKind == ReduceKind::kAvg) {
      for (int64_t i = 0; i < size; ++i) block[i] /= n;
    }
    if constexpr (kKind == ReduceKind::kAny || kKind == ReduceKind::kAll) {
      for (int64_t i = 0; i < size; ++i) block[i] = A(block[i] != A(0));  // also with one input
    }
    for (int64_t i = 0; i < size; ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        out[begin + i] = block[i] != A(0);
      } else {
        out[begin + i] = static_cast<T>(block[i]);
      }
    }
  }
}

template <typename T>
void reduce_kind(std::span<const void* const> inputs, T* out, int64_t count, ReduceKind kind) {
  if (kind == ReduceKind::kSum) return reduce_typed<T, ReduceKind::kSum>(inputs, out, count);
  if (kind == ReduceKind::kAvg) return reduce_typed<T, ReduceKind::kAvg>(inputs, out, count);
  if (kind == ReduceKind::kProd) return reduce_typed<T, ReduceKind::kProd>(inputs, out, count);
  if constexpr (kIsComplex<T>) {
    throw_no_order(dtype_of<T>(), kind);
  } else if (kind == ReduceKind::kMax) {
    reduce_typed<T, ReduceKind::kMax>(inputs, out, count);
  } else if (kind == ReduceKind::kMin) {
    reduce_typed<T, ReduceKind::kMin>(inputs, out, count);
  } else if (kind == ReduceKind::kAny) {
    reduce_typed<T, ReduceKind::kAny>(inputs, out, count);
  } else {
    reduce_typed<T, ReduceKind::kAll>(inputs, out, count);
  }
}

// The largest (sign +1) or smallest (sign -1) value of T.
template <typename T>
T extreme(int sign) {
  if constexpr (kIsComplex<T>) {
    throw_no_order(dtype_of<T>(), sign > 0 ? ReduceKind::kMin : ReduceKind::kMax);
  } else if constexpr (std::is_same_v<T, bool>) {
    return sign > 0;
  } else if constexpr (std::is_integral_v<T>) {
    return sign > 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  } else {
    using F = accumulator_t<T>;
    return static_cast<T>(static_cast<F>(sign) * std::numeric_limits<F>::infinity());
  }
}

template <typename T>
T identity(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kAny:
      return T(0);
    case ReduceKind::kProd:
    case ReduceKind::kAll:
      return T(1);
    case ReduceKind::kMax:
      return extreme<T>(-1);
    case ReduceKind::kMin:
      return extreme<T>(+1);
    case ReduceKind::kAvg:
      break;
  }
  throw errors::InvalidArgument("avg has no identity element; every rank keeps the value instead.");
}

}  // namespace

void reduce_arrays(std::span<const void* const> inputs, void* out, int64_t count, DataType dtype,
                   ReduceKind kind) {
  if (inputs.empty() || count == 0) return;
  visit_any_dtype(dtype,
                  [&]<typename T>() { reduce_kind<T>(inputs, static_cast<T*>(out), count, kind); });
}

void fill_identity(ReduceKind kind, DenseTensor& out) {
  HostArray bytes(out, HostArray::kWrite);
  fill_identity(bytes.data(), out.numel(), out.dtype(), kind);
  bytes.finish();
}

void fill_identity(void* out, int64_t count, DataType dtype, ReduceKind kind) {
  visit_any_dtype(
      dtype, [&]<typename T>() { std::fill_n(static_cast<T*>(out), count, identity<T>(kind)); });
}

}  // namespace phi::distributed
