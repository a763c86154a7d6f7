// Gradients of layer_norm and rms_norm on GPUs. One team of threads per row computes the gradient
// of x. Gradients of weights are column sums, in parts that are added in a fixed order. Rows that
// fit in registers are read once for all gradients.
#include <algorithm>
#include <cmath>

#include "phi/generated/kernels/normalisation.h"
#include "phi/kernels/gpu/column_weights.h"

namespace phi {
namespace {

using gpu::AxisLines;
using gpu::ColumnWeights;

/// The normalisation of a row: y = (x - shift) * factor. In layer_norm the shift depends on x.
template <typename C>
struct LayerNormStatistics {
  static constexpr bool kShiftDependsOnX = true;
  const C* means;
  const C* variances;
  C epsilon;
  __device__ C shift(int64_t r) const { return means[r]; }
  __device__ C factor(int64_t r) const { return C(1) / std::sqrt(variances[r] + epsilon); }
};

template <typename C>
struct RmsNormStatistics {
  static constexpr bool kShiftDependsOnX = false;
  const C* inverses;
  __device__ C shift(int64_t) const { return C(0); }
  __device__ C factor(int64_t r) const { return inverses[r]; }
};

/// The normalisation y of one row.
template <typename C>
struct NormaliseElement {
  C shift;
  C factor;
  __device__ C operator()(C x) const { return (x - shift) * factor; }
};

/// With y as above, g = out_grad * scale and averages <.> over a row:
/// x_grad = factor * (g - <g> - y * <g * y>), where <g> is 0 if the shift does not depend on x.
template <typename T, typename Norm>
struct InputGradRow {
  using C = compute_t<T>;
  const T* x;
  const T* out_grad;
  ColumnWeights<T> scale;
  Norm norm;
  T* x_grad;

  __device__ NormaliseElement<C> normalised(int64_t r) const {
    return {norm.shift(r), norm.factor(r)};
  }

  template <typename TeamRow>
  __device__ void operator()(const TeamRow& row) const {
    const auto own = row.read(x);
    const auto grads = row.read(out_grad);
    const auto scales = row.weights(scale);
    const NormaliseElement<C> y = normalised(row.line());
    const auto of_element = [=](C v, C dy, C s) { return terms(y(v), dy, s); };
    write(row, y, row.sum(of_element, own, grads, scales), own, grads, scales);
  }
  /// The terms to sum: g * y, and g if <g> is needed.
  __device__ static auto terms(C y, C dy, C s) {
    if constexpr (Norm::kShiftDependsOnX) {
      return gpu::SumPair<C>{dy * s, dy * s * y};
    } else {
      return dy * s * y;
    }
  }
  /// Writes the row of x_grad from the sums of the terms and the elements of the row.
  template <typename TeamRow, typename Sums, typename... Elements>
  __device__ void write(const TeamRow& row, const NormaliseElement<C>& y, const Sums& sums,
                        const Elements&... elements) const {
    const C count = static_cast<C>(row.size() > 1 ? row.size() : 1);
    C mean = 0;
    C slope = 0;
    if constexpr (Norm::kShiftDependsOnX) {
      mean = sums.a / count;
      slope = sums.b / count;
    } else {
      slope = sums / count;
    }
    const auto gradient = [=](C v, C dy, C s) { return y.factor * (dy * s - mean - y(v) * slope); };
    row.write(x_grad, gradient, elements...);
  }
};

/// Partial gradients of the weights over some rows, [part, column], of type P. Null ones are not
/// computed.
template <typename P>
struct WeightParts {
  P* scale;
  P* bias;
};

/// Computes all gradients of held rows. Each team processes the next part of the rows.
template <typename TeamRow, typename T, typename Norm>
__global__ void __launch_bounds__(TeamRow::kBlockThreads, 1)
    gradients_of_rows(AxisLines rows, int64_t parts, InputGradRow<T, Norm> input,
                      WeightParts<compute_t<T>> weights) {
  using C = compute_t<T>;
  constexpr int64_t kTeams = TeamRow::kBlockThreads / TeamRow::kThreads;
  const int64_t team = blockIdx.x * kTeams + threadIdx.x / TeamRow::kThreads;
  for (int64_t part = team; part < parts; part += gridDim.x * kTeams) {
    typename TeamRow::template ColumnValues<C> scales, biases;
    const int64_t end = rows.count * (part + 1) / parts;
    for (int64_t r = rows.count * part / parts; r < end; ++r) {
      const TeamRow row(rows, r);
      const auto x = row.read(input.x);
      const auto grads = row.read(input.out_grad);
      const auto scale = row.weights(input.scale);
      const NormaliseElement<C> y = input.normalised(r);
      const auto terms = [=](C v, C dy, C s, C* of_scale, C* of_bias) {
        *of_scale += dy * y(v);
        if constexpr (Norm::kShiftDependsOnX) *of_bias += dy;
        return InputGradRow<T, Norm>::terms(y(v), dy, s);
      };
      const auto sums = row.sum(terms, x, grads, scale, scales.places(), biases.places());
      if (input.x_grad) input.write(row, y, sums, x, grads, scale);
    }
    const auto same = [](C v) { return v; };
    const TeamRow row(rows, part);
    if (weights.scale) row.write(weights.scale, same, scales);
    if constexpr (Norm::kShiftDependsOnX) {
      if (weights.bias) row.write(weights.bias, same, biases);
    }
  }
}

/// Computes partial weight gradients for rows of any length. Each of `splits` threads of a column
/// processes a part of the rows.
template <typename T, typename Norm>
__global__ void sum_weight_terms(const T* x, const T* out_grad, Norm norm, int64_t rows, int64_t n,
                                 int64_t splits, WeightParts<double> parts) {
  using C = compute_t<T>;
  for (int64_t i = gpu::first_item(); i < n * splits; i += gpu::item_stride()) {
    const int64_t column = i % n;
    const int64_t split = i / n;
    const int64_t end = rows * (split + 1) / splits;
    double scale_sum = 0;
    double bias_sum = 0;
    for (int64_t r = rows * split / splits; r < end;) {
      C scale_lane = 0;
      C bias_lane = 0;
      for (int k = 0; k < gpu::kLaneRun && r < end; ++k, ++r) {
        const C dy = static_cast<C>(out_grad[r * n + column]);
        const C centred = static_cast<C>(x[r * n + column]) - norm.shift(r);
        scale_lane += dy * (centred * norm.factor(r));
        bias_lane += dy;
      }
      scale_sum += static_cast<double>(scale_lane);
      bias_sum += static_cast<double>(bias_lane);
    }
    if (parts.scale) parts.scale[i] = scale_sum;
    if (parts.bias) parts.bias[i] = bias_sum;
  }
}

/// Adds the parts: one lane per column; the warps of a block share the parts.
template <typename P, typename Out>
__global__ void join_weight_parts(const P* parts, int64_t n, int64_t count, Out* out) {
  constexpr int kWarps = gpu::kBlock / gpu::kWarp;
  __shared__ double of_warps[kWarps][gpu::kWarp];
  const int lane = static_cast<int>(threadIdx.x) % gpu::kWarp;
  const int warp = static_cast<int>(threadIdx.x) / gpu::kWarp;
  const int64_t column = int64_t{blockIdx.x} * gpu::kWarp + lane;
  double sum = 0;
  if (column < n) {
    PHI_UNROLL(16)
    for (int64_t p = warp; p < count; p += kWarps)
      sum += static_cast<double>(parts[p * n + column]);
  }
  of_warps[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || column >= n) return;
  for (int w = 1; w < kWarps; ++w) sum += of_warps[w][lane];
  out[column] = static_cast<Out>(static_cast<compute_t<Out>>(sum));
}

/// The partial sums of one weight gradient, in T or its compute type; empty if the gradient is not
/// computed.
template <typename T, typename P>
class PartialWeightGrad {
 public:
  PartialWeightGrad(const GpuContext& ctx, DenseTensor* grad, int64_t n, int64_t count)
      : ctx_(ctx), grad_(grad), n_(n), count_(count) {
    if (grad) parts_ = DenseTensor::empty({{count, n}, dtype_of<P>()}, ctx.place());
  }
  P* parts() { return parts_.defined() ? parts_.mutable_data<P>() : nullptr; }
  void finish() {
    if (!parts_.defined()) return;
    const auto blocks = static_cast<unsigned>((n_ + gpu::kWarp - 1) / gpu::kWarp);
    const auto join_to = [&]<typename Out>() {
      gpu::launch(ctx_, join_weight_parts<P, Out>, blocks, gpu::kBlock, parts_.data<P>(), n_,
                  count_, grad_->mutable_data<Out>());
    };
    if (grad_->dtype() == dtype_of<T>()) return join_to.template operator()<T>();
    join_to.template operator()<compute_t<T>>();
  }

 private:
  const GpuContext& ctx_;
  DenseTensor* grad_;
  int64_t n_;
  int64_t count_;
  DenseTensor parts_;
};

/// The gradients to write; null ones are not computed.
struct NormGrads {
  DenseTensor* x;
  DenseTensor* scale;
  DenseTensor* bias;
};

/// Number of parts per column: enough to fill the GPU, but none very short.
int64_t splits_of_rows(const GpuContext& ctx, int64_t rows, int64_t n) {
  constexpr int64_t kLeastRows = 32;
  const int64_t threads = int64_t{gpu::blocks_for(ctx, int64_t{1} << 40)} * gpu::kBlock;
  const int64_t wanted = std::max<int64_t>(1, threads / std::max<int64_t>(1, n));
  return std::clamp<int64_t>(rows / kLeastRows, 1, wanted);
}

/// Computes the gradients separately. Those of the weights come first, because x's may overwrite
/// out_grad.
template <typename T, typename Norm>
void gradients_separately(const GpuContext& ctx, const AxisLines& rows,
                          const InputGradRow<T, Norm>& input, const NormGrads& to) {
  if (to.scale || to.bias) {
    const int64_t splits = splits_of_rows(ctx, rows.count, rows.n);
    PartialWeightGrad<T, double> scale(ctx, to.scale, rows.n, splits);
    PartialWeightGrad<T, double> bias(ctx, to.bias, rows.n, splits);
    gpu::launch(ctx, sum_weight_terms<T, Norm>, gpu::blocks_for(ctx, rows.n * splits), gpu::kBlock,
                input.x, input.out_grad, input.norm, rows.count, rows.n, splits,
                WeightParts<double>{scale.parts(), bias.parts()});
    scale.finish();
    bias.finish();
  }
  if (!input.x_grad) return;
  for_each_row<T>(ctx, rows, input, input.x, input.out_grad, input.x_grad, input.scale.narrow,
                  input.scale.wide);
}

/// Number of parts of rows for the teams of `TeamRow`: enough to fill the GPU, and small enough for
/// accurate sums in T's compute type.
template <typename TeamRow>
int64_t parts_of_rows(const GpuContext& ctx, int64_t rows) {
  constexpr int64_t kMostRows = 256;
  constexpr int64_t kThreads = 512;  // per multiprocessor, limited by registers
  const int64_t wanted =
      gpu::GpuDevice::of(ctx.place()).multiprocessors() * (kThreads / TeamRow::kThreads);
  return std::max(std::clamp<int64_t>(rows, 1, wanted), rows / kMostRows);
}

template <typename TeamRow, typename T, typename Norm>
void gradients_together(const GpuContext& ctx, const AxisLines& rows,
                        const InputGradRow<T, Norm>& input, const NormGrads& to) {
  using C = compute_t<T>;
  const int64_t parts = parts_of_rows<TeamRow>(ctx, rows.count);
  PartialWeightGrad<T, C> scale(ctx, to.scale, rows.n, parts);
  PartialWeightGrad<T, C> bias(ctx, to.bias, rows.n, parts);
  gpu::launch(ctx, gradients_of_rows<TeamRow, T, Norm>,
              gpu::blocks_for_lines(ctx, parts, TeamRow::kThreads, TeamRow::kBlockThreads),
              TeamRow::kBlockThreads, rows, parts, input,
              WeightParts<C>{scale.parts(), bias.parts()});
  scale.finish();
  bias.finish();
}

template <typename T, typename Norm>
void norm_gradients(const GpuContext& ctx, const DenseTensor& x, const DenseTensor* scale,
                    const DenseTensor& out_grad, const AxisLines& rows, const Norm& norm,
                    const NormGrads& to) {
  if (rows.n == 0) return;
  const gpu::ColumnWeightArray<T> scales(ctx, scale, 1);
  const InputGradRow<T, Norm> input{x.data<T>(), out_grad.data<T>(), scales.get(), norm,
                                    to.x ? to.x->mutable_data<T>() : nullptr};
  const auto together = [&]<typename TeamRow>() {
    gradients_together<TeamRow>(ctx, rows, input, to);
  };
  constexpr int kHeld = 2;  // packs of each of two arrays, and the sums of as many columns
  const bool has_weights = to.scale || to.bias;
  if (has_weights &&
      gpu::with_register_rows<T, kHeld>(rows, together, input.x, input.out_grad, input.x_grad,
                                        scales.narrow(), scales.wide()))
    return;
  gradients_separately(ctx, rows, input, to);
}

}  // namespace

/// Same contract as on the CPU. A null output is not computed. scale_grad and bias_grad have the
/// dtypes of scale and bias; if rows are sharded they are partial sums.
template <typename T, typename Context>
void LayerNormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* scale,
                         const DenseTensor& mean, const DenseTensor& variance,
                         const DenseTensor& out_grad, float epsilon, int begin_norm_axis,
                         DenseTensor* x_grad, DenseTensor* scale_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const auto rows = AxisLines::rows(x.dims().numel(0, begin_norm_axis),
                                    x.dims().numel(begin_norm_axis, x.ndim()));
  const LayerNormStatistics<C> norm{mean.data<C>(), variance.data<C>(), static_cast<C>(epsilon)};
  norm_gradients<T>(ctx, x, scale, out_grad, rows, norm, {x_grad, scale_grad, bias_grad});
}

template <typename T, typename Context>
void RmsNormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& scale,
                       const DenseTensor& invvar, const DenseTensor& out_grad, DenseTensor* x_grad,
                       DenseTensor* scale_grad) {
  using C = compute_t<T>;
  const auto rows = AxisLines::rows(x.dims().numel(0, x.ndim() - 1), x.dims().back());
  norm_gradients<T>(ctx, x, &scale, out_grad, rows, RmsNormStatistics<C>{invvar.data<C>()},
                    {x_grad, scale_grad, nullptr});
}

PHI_REGISTER_KERNEL(layer_norm_grad, GPU, LayerNormGradKernel, Floats);
PHI_REGISTER_KERNEL(rms_norm_grad, GPU, RmsNormGradKernel, Floats);

}  // namespace phi
