// searchsorted on the CPU.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/sort.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

/// Returns 1 if a < b, else 0, without branches. NaN is larger than all numbers.
template <typename T>
int64_t is_less(T a, T b) {
  using C = compute_t<T>;
  const auto x = static_cast<C>(a);
  const auto y = static_cast<C>(b);
  return int64_t{x < y} | (int64_t{y != y} & int64_t{x == x});
}

/// Returns how many of n sorted elements come before each of kCount values. The values are searched
/// side by side, because each search waits for its own loads, and without branches, which would be
/// mispredicted.
template <int kCount, bool kRight, typename T, typename Index>
void find_places(const T* first, int64_t n, const T* values, Index* out) {
  const auto step = [&](int k, int64_t at, int64_t count) {
    const T x = first[at + count - 1], v = values[k];
    return -(kRight ? 1 - is_less(v, x) : is_less(x, v)) & count;
  };
  int64_t at[kCount] = {};
  for (int64_t left = n; left > 1;) {
    const int64_t half = left / 2;
    for (int k = 0; k < kCount; ++k) at[k] += step(k, at[k], half);
    left -= half;
  }
  for (int k = 0; k < kCount; ++k)
    out[k] = static_cast<Index>(n == 0 ? 0 : at[k] + step(k, at[k], 1));
}

template <bool kRight, typename T, typename Index>
void search(const DenseTensor& sequence, const DenseTensor& values, Index* out) {
  constexpr int kTogether = 8;
  const int64_t n = sequence.dims()[sequence.ndim() - 1];
  const int64_t rows = sequence.dims().numel(0, sequence.ndim() - 1);
  const T* first = sequence.data<T>();
  const T* value = values.data<T>();
  const int64_t per_row = values.numel() / std::max<int64_t>(rows, 1);
  for (int64_t row = 0; row < rows; ++row, first += n, value += per_row, out += per_row) {
    const int64_t together = per_row / kTogether * kTogether;
    run_best_isa<compute_t<T>>([=] {
      for (int64_t i = 0; i < together; i += kTogether)
        find_places<kTogether, kRight>(first, n, value + i, out + i);
    });
    for (int64_t i = together; i < per_row; ++i)
      find_places<1, kRight>(first, n, value + i, out + i);
  }
}

}  // namespace

/// Returns the first position in a sorted sequence at which each value may be inserted, or the last
/// one if `right`.
template <typename T, typename Context>
void SearchsortedKernel(const Context&, const DenseTensor& sorted_sequence,
                        const DenseTensor& values, bool right, DenseTensor* out) {
  const auto find = [&](auto* places) {
    right ? search<true, T>(sorted_sequence, values, places)
          : search<false, T>(sorted_sequence, values, places);
  };
  out->dtype() == DataType::INT32 ? find(out->mutable_data<int32_t>())
                                  : find(out->mutable_data<int64_t>());
}

PHI_REGISTER_KERNEL(searchsorted, CPU, SearchsortedKernel, Numbers);

}  // namespace phi
