// searchsorted on the CPU.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/order.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

/// a < b, where NaN is larger than all numbers.
template <typename T>
bool is_less(T a, T b) {
  using C = compute_t<T>;
  const auto x = static_cast<C>(a);
  const auto y = static_cast<C>(b);
  return x < y || (y != y && x == x);
}

/// How many of n elements, sorted, are `before` the place that is looked for. Without jumps: which
/// half is next cannot be foretold.
template <typename T, typename Before>
int64_t count_before(const T* first, int64_t n, Before before) {
  if (n == 0) return 0;
  const T* at = first;
  while (n > 1) {
    const int64_t half = n / 2;
    at += before(at[half - 1]) ? half : 0;
    n -= half;
  }
  return at - first + (before(*at) ? 1 : 0);
}

template <typename T, typename Index>
void search(const DenseTensor& sequence, const DenseTensor& values, bool right, Index* out) {
  const int64_t n = sequence.dims()[sequence.ndim() - 1];
  const bool is_one = sequence.ndim() == 1;
  const int64_t per_row =
      is_one ? values.numel() : values.dims()[values.ndim() - 1];  // values per sequence
  const T* begin = sequence.data<T>();
  const T* value = values.data<T>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    const T* first = is_one ? begin : begin + i / per_row * n;
    const T v = value[i];
    const int64_t found = right ? count_before(first, n, [v](T x) { return !is_less(v, x); })
                                : count_before(first, n, [v](T x) { return is_less(x, v); });
    out[i] = static_cast<Index>(found);
  }
}

}  // namespace

/// The first place in a sorted sequence where each value may be inserted, with `right` the last.
template <typename T, typename Context>
void SearchsortedKernel(const Context&, const DenseTensor& sorted_sequence,
                        const DenseTensor& values, bool right, DenseTensor* out) {
  if (out->dtype() == DataType::INT32)
    return search<T>(sorted_sequence, values, right, out->mutable_data<int32_t>());
  search<T>(sorted_sequence, values, right, out->mutable_data<int64_t>());
}

PHI_REGISTER_KERNEL(searchsorted, CPU, SearchsortedKernel, Numbers);

}  // namespace phi
