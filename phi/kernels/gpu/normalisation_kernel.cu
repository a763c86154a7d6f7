// layer_norm and rms_norm on GPUs, with one team of threads per row.
#include <cmath>

#include "phi/generated/kernels/normalisation.h"
#include "phi/kernels/gpu/column_weights.h"
#include "phi/kernels/gpu/team_row.h"

namespace phi {
namespace {

using gpu::AxisLines;
using gpu::ColumnWeights;

template <typename T>
struct LayerNormRow {
  using C = compute_t<T>;
  const T* x;
  ColumnWeights<T> scale;
  ColumnWeights<T> bias;
  C epsilon;
  T* out;
  C* means;
  C* variances;

  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto own = row.read(x);
    const C count = static_cast<C>(row.size() > 1 ? row.size() : 1);
    // If all elements are close to a large number, their mean is slightly wrong. The second pass,
    // relative to that mean, corrects it.
    const C about = row.sum([](C v) { return v; }, own) / count;
    const auto around = [=](C v) { return gpu::SumPair<C>{v - about, (v - about) * (v - about)}; };
    const gpu::SumPair<C> sums = row.sum(around, own);
    const C off = sums.a / count;
    const C mean = about + off;
    const C variance = std::max(C(0), sums.b / count - off * off);
    if (row.is_first_thread()) {
      means[row.line()] = mean;
      variances[row.line()] = variance;
    }
    const C factor = C(1) / std::sqrt(variance + epsilon);
    row.write(
        out, [=](C v, C scale, C bias) { return (v - mean) * factor * scale + bias; }, own,
        row.weights(scale), row.weights(bias));
  }
};

template <typename T>
struct RmsNormRow {
  using C = compute_t<T>;
  const T* x;
  ColumnWeights<T> scale;
  C epsilon;
  T* out;
  C* inverses;

  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto own = row.read(x);
    const C count = static_cast<C>(row.size() > 1 ? row.size() : 1);
    const C square = row.sum([](C v) { return v * v; }, own) / count;
    const C inverse = C(1) / std::sqrt(square + epsilon);
    if (row.is_first_thread()) inverses[row.line()] = inverse;
    row.write(
        out, [=](C v, C scale) { return v * inverse * scale; }, own, row.weights(scale));
  }
};

}  // namespace

/// out = (x - mean) / sqrt(variance + epsilon) * scale + bias over the tensor dims from
/// `begin_norm_axis` on. The variance is that of the population. It is computed in a second pass
/// relative to the mean, which also corrects the mean.
template <typename T, typename Context>
void LayerNormKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* scale,
                     const DenseTensor* bias, float epsilon, int begin_norm_axis, DenseTensor* out,
                     DenseTensor* mean, DenseTensor* variance) {
  using C = compute_t<T>;
  const auto rows = AxisLines::rows(x.dims().numel(0, begin_norm_axis),
                                    x.dims().numel(begin_norm_axis, x.ndim()));
  const gpu::ColumnWeightArray<T> scales(ctx, scale, C(1));
  const gpu::ColumnWeightArray<T> biases(ctx, bias, C(-0.0));  // adding -0.0 changes no value
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for_each_row<T>(ctx, rows,
                  LayerNormRow<T>{from, scales.get(), biases.get(), static_cast<C>(epsilon), to,
                                  mean->mutable_data<C>(), variance->mutable_data<C>()},
                  from, to, scales.narrow(), scales.wide(), biases.narrow(), biases.wide());
}

/// invvar = 1 / sqrt(mean(x^2) + epsilon) over the last tensor dim, out = x * invvar * scale.
template <typename T, typename Context>
void RmsNormKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& scale,
                   float epsilon, DenseTensor* out, DenseTensor* invvar) {
  using C = compute_t<T>;
  const auto rows = AxisLines::rows(x.dims().numel(0, x.ndim() - 1), x.dims().back());
  const gpu::ColumnWeightArray<T> scales(ctx, &scale, C(1));
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for_each_row<T>(
      ctx, rows,
      RmsNormRow<T>{from, scales.get(), static_cast<C>(epsilon), to, invvar->mutable_data<C>()},
      from, to, scales.narrow(), scales.wide());
}

PHI_REGISTER_KERNEL(layer_norm, GPU, LayerNormKernel, Floats);
PHI_REGISTER_KERNEL(rms_norm, GPU, RmsNormKernel, Floats);

}  // namespace phi
