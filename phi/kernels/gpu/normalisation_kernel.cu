// layer_norm and rms_norm on GPUs: a team of threads for each row.
#include <cmath>

#include "phi/generated/kernels/normalisation.h"
#include "phi/kernels/gpu/compute_array.h"
#include "phi/kernels/gpu/lines.h"

namespace phi {
namespace {

using gpu::AxisLines;

/// out = (x - shift) * factor * scale + bias; scale and bias may be null.
template <typename T, typename Team>
__device__ void affine_row(const Team& team, const T* x, int64_t n, compute_t<T> shift,
                           compute_t<T> factor, const compute_t<T>* scale, const compute_t<T>* bias,
                           T* out) {
  using C = compute_t<T>;
  team.each(n, [&](int64_t i) {
    C y = (static_cast<C>(x[i]) - shift) * factor;
    if (scale) y *= scale[i];
    if (bias) y += bias[i];
    out[i] = static_cast<T>(y);
  });
}

template <typename T>
struct LayerNormRow {
  using C = compute_t<T>;
  const T* x;
  const C* scale;
  const C* bias;
  C epsilon;
  int64_t n;
  T* out;
  C* means;
  C* variances;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t r) const {
    const T* row = x + r * n;
    const C count = static_cast<C>(n > 1 ? n : 1);
    const auto value = [&](int64_t i) { return static_cast<C>(row[i]); };
    const C m = team.template sum<C>(n, value) / count;
    const auto square = [&](int64_t i) { return (value(i) - m) * (value(i) - m); };
    const C v = team.template sum<C>(n, square) / count;
    if (team.index() == 0) {
      means[r] = m;
      variances[r] = v;
    }
    affine_row(team, row, n, m, C(1) / std::sqrt(v + epsilon), scale, bias, out + r * n);
  }
};

template <typename T>
struct RmsNormRow {
  using C = compute_t<T>;
  const T* x;
  const C* scale;
  C epsilon;
  int64_t n;
  T* out;
  C* inverses;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t r) const {
    const T* row = x + r * n;
    const C count = static_cast<C>(n > 1 ? n : 1);
    const auto square = [&](int64_t i) { return static_cast<C>(row[i]) * static_cast<C>(row[i]); };
    const C inverse = C(1) / std::sqrt(team.template sum<C>(n, square) / count + epsilon);
    if (team.index() == 0) inverses[r] = inverse;
    affine_row<T>(team, row, n, C(0), inverse, scale, nullptr, out + r * n);
  }
};

}  // namespace

/// out = (x - mean) / sqrt(variance + epsilon) * scale + bias over the tensor dims from
/// `begin_norm_axis` on; variance is that of the population, taken in a second pass around the
/// mean.
template <typename T, typename Context>
void LayerNormKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* scale,
                     const DenseTensor* bias, float epsilon, int begin_norm_axis, DenseTensor* out,
                     DenseTensor* mean, DenseTensor* variance) {
  using C = compute_t<T>;
  const auto rows = AxisLines::rows(x.dims().numel(0, begin_norm_axis),
                                    x.dims().numel(begin_norm_axis, x.ndim()));
  const gpu::ComputeArray<C> scales(ctx, scale);
  const gpu::ComputeArray<C> biases(ctx, bias);
  for_each_line(ctx, rows,
                LayerNormRow<T>{x.data<T>(), scales.data(), biases.data(), static_cast<C>(epsilon),
                                rows.n, out->mutable_data<T>(), mean->mutable_data<C>(),
                                variance->mutable_data<C>()});
}

/// invvar = 1 / sqrt(mean(x^2) + epsilon) over the last tensor dim, out = x * invvar * scale.
template <typename T, typename Context>
void RmsNormKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& scale,
                   float epsilon, DenseTensor* out, DenseTensor* invvar) {
  using C = compute_t<T>;
  const auto rows = AxisLines::rows(x.dims().numel(0, x.ndim() - 1), x.dims().back());
  const gpu::ComputeArray<C> scales(ctx, &scale);
  for_each_line(ctx, rows,
                RmsNormRow<T>{x.data<T>(), scales.data(), static_cast<C>(epsilon), rows.n,
                              out->mutable_data<T>(), invvar->mutable_data<C>()});
}

PHI_REGISTER_KERNEL(layer_norm, GPU, LayerNormKernel, Floats);
PHI_REGISTER_KERNEL(rms_norm, GPU, RmsNormKernel, Floats);

}  // namespace phi
