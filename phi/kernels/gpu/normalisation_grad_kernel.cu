// Gradients of layer_norm and rms_norm on GPUs: of x by a team of threads for each row, of the
// weights down the columns, in parts that are added up in their order.
#include <algorithm>
#include <cmath>

#include "phi/generated/kernels/normalisation.h"
#include "phi/kernels/gpu/compute_array.h"
#include "phi/kernels/gpu/lines.h"

namespace phi {
namespace {

using gpu::AxisLines;

/// How rows were normalised: y = (x - shift) * factor. In layer_norm the shift depends on x.
template <typename C>
struct Centred {
  static constexpr bool kShiftDependsOnX = true;
  const C* means;
  const C* variances;
  C epsilon;
  __device__ C shift(int64_t r) const { return means[r]; }
  __device__ C factor(int64_t r) const { return C(1) / std::sqrt(variances[r] + epsilon); }
};

template <typename C>
struct Scaled {
  static constexpr bool kShiftDependsOnX = false;
  const C* inverses;
  __device__ C shift(int64_t) const { return C(0); }
  __device__ C factor(int64_t r) const { return inverses[r]; }
};

/// With y as above, g = out_grad * scale and averages <.> over a row:
/// x_grad = factor * (g - <g> - y * <g * y>), where <g> is 0 if the shift does not depend on x.
template <typename T, typename Norm>
struct InputGradRow {
  using C = compute_t<T>;
  const T* x;
  const T* out_grad;
  const C* scale;  // null: ones
  Norm norm;
  int64_t n;
  T* x_grad;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t r) const {
    const T* row = x + r * n;
    const T* dy = out_grad + r * n;
    T* dx = x_grad + r * n;
    const C shift = norm.shift(r);
    const C factor = norm.factor(r);
    const C count = static_cast<C>(n > 1 ? n : 1);
    const auto g = [&](int64_t i) {
      return scale ? static_cast<C>(dy[i]) * scale[i] : static_cast<C>(dy[i]);
    };
    const auto centred = [&](int64_t i) { return static_cast<C>(row[i]) - shift; };
    const auto terms = [&](int64_t i) { return gpu::Two<C>{g(i), g(i) * centred(i)}; };
    const auto sums = team.template wide_sums<C>(n, terms);
    const C mean = Norm::kShiftDependsOnX ? static_cast<C>(sums.a) / count : C(0);
    const C slope = static_cast<C>(sums.b) * factor / count * factor;
    team.each(
        n, [&](int64_t i) { dx[i] = static_cast<T>(factor * (g(i) - mean - centred(i) * slope)); });
  }
};

/// Sums over rows, of which each of `splits` threads of a column has a part: [split, column].
template <typename T, typename Norm>
__global__ void sum_weight_terms(const T* x, const T* out_grad, Norm norm, int64_t rows, int64_t n,
                                 int64_t splits, double* scale_parts, double* bias_parts) {
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
    if (scale_parts) scale_parts[i] = scale_sum;
    if (bias_parts) bias_parts[i] = bias_sum;
  }
}

template <typename C>
__global__ void join_weight_parts(const double* parts, int64_t n, int64_t splits, C* out) {
  for (int64_t column = gpu::first_item(); column < n; column += gpu::item_stride()) {
    double sum = 0;
    for (int64_t s = 0; s < splits; ++s) sum += parts[s * n + column];
    out[column] = static_cast<C>(sum);
  }
}

/// The parts of one gradient's sums; none where it is not wanted.
template <typename C>
class WeightSums {
 public:
  WeightSums(const GpuContext& ctx, DenseTensor* grad, int64_t n, int64_t splits)
      : ctx_(ctx), n_(n), splits_(splits), result_(ctx, grad) {
    if (grad) parts_ = DenseTensor::empty({{splits, n}, DataType::FLOAT64}, ctx.place());
  }
  double* parts() { return parts_.defined() ? parts_.mutable_data<double>() : nullptr; }
  void finish() {
    if (!parts_.defined() || n_ == 0) return;
    gpu::launch(ctx_, join_weight_parts<C>, gpu::blocks_for(ctx_, n_), gpu::kBlock,
                parts_.data<double>(), n_, splits_, result_.data());
    result_.finish();
  }

 private:
  const GpuContext& ctx_;
  int64_t n_;
  int64_t splits_;
  gpu::ComputeResult<C> result_;
  DenseTensor parts_;
};

/// Enough parts of a column to keep the GPU busy, none of them very short.
int64_t splits_of_rows(const GpuContext& ctx, int64_t rows, int64_t n) {
  constexpr int64_t kLeastRows = 32;
  const int64_t threads = int64_t{gpu::blocks_for(ctx, int64_t{1} << 40)} * gpu::kBlock;
  const int64_t wanted = std::max<int64_t>(1, threads / std::max<int64_t>(1, n));
  return std::clamp<int64_t>(rows / kLeastRows, 1, wanted);
}

template <typename T, typename Norm>
void weight_gradients(const GpuContext& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                      const AxisLines& rows, const Norm& norm, DenseTensor* scale_grad,
                      DenseTensor* bias_grad) {
  if ((!scale_grad && !bias_grad) || rows.n == 0) return;
  const int64_t splits = splits_of_rows(ctx, rows.count, rows.n);
  WeightSums<compute_t<T>> scale_sums(ctx, scale_grad, rows.n, splits);
  WeightSums<compute_t<T>> bias_sums(ctx, bias_grad, rows.n, splits);
  gpu::launch(ctx, sum_weight_terms<T, Norm>, gpu::blocks_for(ctx, rows.n * splits), gpu::kBlock,
              x.data<T>(), out_grad.data<T>(), norm, rows.count, rows.n, splits, scale_sums.parts(),
              bias_sums.parts());
  scale_sums.finish();
  bias_sums.finish();
}

/// Before x's, which may be made in out_grad, those of the weights.
template <typename T, typename Norm>
void norm_gradients(const GpuContext& ctx, const DenseTensor& x, const DenseTensor* scale,
                    const DenseTensor& out_grad, const AxisLines& rows, const Norm& norm,
                    DenseTensor* x_grad, DenseTensor* scale_grad, DenseTensor* bias_grad) {
  weight_gradients<T>(ctx, x, out_grad, rows, norm, scale_grad, bias_grad);
  if (!x_grad || rows.n == 0) return;
  const gpu::ComputeArray<compute_t<T>> scales(ctx, scale);
  for_each_line(ctx, rows,
                InputGradRow<T, Norm>{x.data<T>(), out_grad.data<T>(), scales.data(), norm, rows.n,
                                      x_grad->mutable_data<T>()});
}

}  // namespace

/// As on the CPU. Each output may be null: it is not wanted. scale_grad and bias_grad have scale's
/// and bias's dtypes; where rows are sharded they are partial sums.
template <typename T, typename Context>
void LayerNormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* scale,
                         const DenseTensor& mean, const DenseTensor& variance,
                         const DenseTensor& out_grad, float epsilon, int begin_norm_axis,
                         DenseTensor* x_grad, DenseTensor* scale_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const auto rows = AxisLines::rows(x.dims().numel(0, begin_norm_axis),
                                    x.dims().numel(begin_norm_axis, x.ndim()));
  const Centred<C> norm{mean.data<C>(), variance.data<C>(), static_cast<C>(epsilon)};
  norm_gradients<T>(ctx, x, scale, out_grad, rows, norm, x_grad, scale_grad, bias_grad);
}

template <typename T, typename Context>
void RmsNormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& scale,
                       const DenseTensor& invvar, const DenseTensor& out_grad, DenseTensor* x_grad,
                       DenseTensor* scale_grad) {
  using C = compute_t<T>;
  const auto rows = AxisLines::rows(x.dims().numel(0, x.ndim() - 1), x.dims().back());
  norm_gradients<T>(ctx, x, &scale, out_grad, rows, Scaled<C>{invvar.data<C>()}, x_grad, scale_grad,
                    nullptr);
}

PHI_REGISTER_KERNEL(layer_norm_grad, GPU, LayerNormGradKernel, Floats);
PHI_REGISTER_KERNEL(rms_norm_grad, GPU, RmsNormGradKernel, Floats);

}  // namespace phi
