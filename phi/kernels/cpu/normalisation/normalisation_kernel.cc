// layer_norm and rms_norm on the CPU. Each row stays in cache for its passes.
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/normalisation.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

/// out = (x - shift) * factor * scale + bias; scale and bias may be null.
template <typename C>
inline void affine_row(const C* x, int64_t n, C shift, C factor, const C* scale, const C* bias,
                       C* out) {
  if (scale && bias) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = (x[i] - shift) * factor * scale[i] + bias[i];
  } else if (scale) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = (x[i] - shift) * factor * scale[i];
  } else if (bias) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = (x[i] - shift) * factor + bias[i];
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = (x[i] - shift) * factor;
  }
}

}  // namespace

/// out = (x - mean) / sqrt(variance + epsilon) * scale + bias over the tensor dims from
/// `begin_norm_axis` on. variance is that of the population, computed in a second pass around the
/// mean. Ba, Kiros, Hinton: Layer Normalization, 2016.
template <typename T, typename Context>
void LayerNormKernel(const Context&, const DenseTensor& x, const DenseTensor* scale,
                     const DenseTensor* bias, float epsilon, int begin_norm_axis, DenseTensor* out,
                     DenseTensor* mean, DenseTensor* variance) {
  using C = compute_t<T>;
  const int64_t rows = x.dims().numel(0, begin_norm_axis);
  const int64_t n = x.dims().numel(begin_norm_axis, x.ndim());
  RowReader<T> reader(x.data<T>(), n);
  RowWriter<T> writer(out->mutable_data<T>(), n);
  const ComputeArray<C> scales(scale);
  const ComputeArray<C> biases(bias);
  C* means = mean->mutable_data<C>();
  C* variances = variance->mutable_data<C>();
  run_best_isa<C>([&] {
    for (int64_t r = 0; r < rows; ++r) {
      const C* row = reader.row(r);
      const C count = static_cast<C>(std::max<int64_t>(n, 1));
      const C m = row_sum<C>(n, [row](int64_t i) { return row[i]; }) / count;
      const C v =
          row_sum<C>(n, [row, m](int64_t i) { return (row[i] - m) * (row[i] - m); }) / count;
      means[r] = m;
      variances[r] = v;
      const C factor = C(1) / std::sqrt(v + static_cast<C>(epsilon));
      affine_row(row, n, m, factor, scales.data(), biases.data(), writer.row(r));
      writer.done(r);
    }
  });
}

/// invvar = 1 / sqrt(mean(x^2) + epsilon) over the last tensor dim, out = x * invvar * scale.
/// Zhang, Sennrich: Root Mean Square Layer Normalization, 2019.
template <typename T, typename Context>
void RmsNormKernel(const Context&, const DenseTensor& x, const DenseTensor& scale, float epsilon,
                   DenseTensor* out, DenseTensor* invvar) {
  using C = compute_t<T>;
  const int64_t n = x.dims().back();
  const int64_t rows = x.dims().numel(0, x.ndim() - 1);
  RowReader<T> reader(x.data<T>(), n);
  RowWriter<T> writer(out->mutable_data<T>(), n);
  const ComputeArray<C> scales(&scale);
  C* inverses = invvar->mutable_data<C>();
  run_best_isa<C>([&] {
    for (int64_t r = 0; r < rows; ++r) {
      const C* row = reader.row(r);
      const C count = static_cast<C>(std::max<int64_t>(n, 1));
      const C mean_square = row_sum<C>(n, [row](int64_t i) { return row[i] * row[i]; }) / count;
      inverses[r] = C(1) / std::sqrt(mean_square + static_cast<C>(epsilon));
      affine_row<C>(row, n, C(0), inverses[r], scales.data(), nullptr, writer.row(r));
      writer.done(r);
    }
  });
}

PHI_REGISTER_KERNEL(layer_norm, CPU, LayerNormKernel, Floats);
PHI_REGISTER_KERNEL(rms_norm, CPU, RmsNormKernel, Floats);

}  // namespace phi
