// Norms over some tensor dims, and log-sum-exp, on the CPU.
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/norms.h"
#include "phi/kernels/cpu/elementwise/elementwise_loop.h"
#include "phi/kernels/cpu/gathered_rows.h"
#include "phi/kernels/cpu/reduce_loop.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/reduce.h"

namespace phi {
namespace {

/// Reduces and stores f of each result.
template <typename R, typename T, typename To, typename F>
void reduce(const DenseTensor& x, AxisSet axes, DenseTensor* out, F f) {
  const StoreTo store(out->mutable_data<To>());
  reduce_loop<R>(x.data<T>(), x.dims(), axes,
                 [&](int64_t first, typename R::Acc* values, int64_t count) {
                   for (int64_t i = 0; i < count; ++i) values[i] = f(values[i]);
                   store(first, values, count);
                 });
}

template <typename R, typename T>
void reduce(const DenseTensor& x, AxisSet axes, DenseTensor* out) {
  reduce_loop<R>(x.data<T>(), x.dims(), axes, StoreTo(out->mutable_data<T>()));
}

template <typename T>
void euclidean_norm(const DenseTensor& x, AxisSet axes, DenseTensor* out) {
  reduce<SumOfSquaresReducer<T>, T, T>(x, axes, out, [](double sum) { return std::sqrt(sum); });
}

/// The p-th root of the sum of p-th powers.
template <typename T>
void power_norm(const KernelContext& ctx, const DenseTensor& x, AxisSet axes, double p,
                DenseTensor* out) {
  using C = compute_t<T>;
  DenseTensor powers = DenseTensor::empty({x.dims(), dtype_of<C>()}, ctx.place());
  convert(x.data<T>(), powers.mutable_data<C>(), x.numel());
  const auto exponent = static_cast<C>(p);
  unary_loop(powers.data<C>(), powers.mutable_data<C>(), x.numel(),
             [exponent](C value) { return std::pow(std::fabs(value), exponent); });
  reduce<SumReducer<C>, C, T>(powers, axes, out,
                              [p](double sum) { return std::pow(sum, 1.0 / p); });
}

/// log(sum(exp(x))) of a row: relative to its largest element, if that is a number.
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

}  // namespace

/// porder inf and -inf: the largest and smallest magnitude; 0: how many elements are not 0.
template <typename T, typename Context>
void PNormKernel(const Context& ctx, const DenseTensor& x, float porder, int axis, bool asvector,
                 DenseTensor* out) {
  const AxisSet axes = normalise_axes(asvector ? IntArray() : IntArray({axis}), x.dims());
  if (porder == 2) return euclidean_norm<T>(x, axes, out);
  if (porder == 1) return reduce<SumOfMagnitudesReducer<T>, T>(x, axes, out);
  if (porder == 0) return reduce<CountReducer<T>, T>(x, axes, out);
  if (std::isinf(porder)) {
    if (porder > 0) return reduce<LargestMagnitudeReducer<T>, T>(x, axes, out);
    return reduce<SmallestMagnitudeReducer<T>, T>(x, axes, out);
  }
  power_norm<T>(ctx, x, axes, porder, out);
}

template <typename T, typename Context>
void FrobeniusNormKernel(const Context&, const DenseTensor& x, const IntArray& axis,
                         bool reduce_all, DenseTensor* out) {
  euclidean_norm<T>(x, normalise_axes(reduce_all ? IntArray() : axis, x.dims()), out);
}

template <typename T, typename Context>
void LogsumexpKernel(const Context&, const DenseTensor& x, const std::vector<int64_t>& axis,
                     bool reduce_all, DenseTensor* out) {
  using C = compute_t<T>;
  GatheredRows<T> rows(x.data<T>(), x.dims(),
                       normalise_axes(reduce_all ? IntArray() : IntArray(axis), x.dims()));
  T* to = out->mutable_data<T>();
  run_widest<C>([&] {
    rows.for_each(
        [&](int64_t r, const C* row) { to[r] = static_cast<T>(log_sum_exp(row, rows.length())); });
  });
}

PHI_REGISTER_KERNEL(p_norm, CPU, PNormKernel, Floats);
PHI_REGISTER_KERNEL(frobenius_norm, CPU, FrobeniusNormKernel, Floats);
PHI_REGISTER_KERNEL(logsumexp, CPU, LogsumexpKernel, Floats);

}  // namespace phi
