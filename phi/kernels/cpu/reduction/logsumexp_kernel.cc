// logsumexp over some tensor dims on the CPU.
#include <algorithm>
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/norms.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/gathered_rows.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/templates/converted.h"

namespace phi {
namespace {

/// Returns log(sum(exp(x))) of a row, computed relative to its largest element if that is finite.
template <typename C>
C log_sum_exp(const C* row, int64_t n) {
  const C most = row_max(row, n);
  if (!std::isfinite(most)) {
    const bool has_nan = std::any_of(row, row + n, [](C x) { return x != x; });
    return has_nan ? std::numeric_limits<C>::quiet_NaN() : most;
  }
  const C sum = row_sum<C>(n, [=](int64_t i) { return fast::exp_or_zero(row[i] - most); });
  return most + std::log(sum);
}

template <typename T>
void log_sum_exp(const DenseTensor& x, AxisSet axes, DenseTensor* out) {
  using C = compute_t<T>;
  GatheredRows<T> rows(x.data<T>(), x.dims(), axes);
  T* to = out->mutable_data<T>();
  run_best_isa<C>([&] {
    rows.for_each(
        [&](int64_t r, const C* row) { to[r] = static_cast<T>(log_sum_exp(row, rows.length())); });
  });
}

}  // namespace

/// Integers give float32.
template <typename T, typename Context>
void LogsumexpKernel(const Context& ctx, const DenseTensor& x, const std::vector<int64_t>& axis,
                     bool reduce_all, DenseTensor* out) {
  using F = floating_t<T>;
  const AxisSet axes = normalise_axes(reduce_all ? IntArray() : IntArray(axis), x.dims());
  log_sum_exp<F>(converted<F, T>(ctx, x), axes, out);
}

PHI_REGISTER_KERNEL(logsumexp, CPU, LogsumexpKernel, RealNumbers);

}  // namespace phi
