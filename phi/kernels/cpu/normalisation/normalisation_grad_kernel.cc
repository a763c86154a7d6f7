// Gradients of layer_norm and rms_norm on the CPU. Memory is read once: a row stays in cache
// between its sums and the elements that need them.
#include <algorithm>
#include <cmath>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/normalisation.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

/// Sums over rows, one per normalised element, in the compute type: in the gradient itself if it
/// has this dtype, otherwise in a buffer that `finish` converts.
template <typename C>
class WeightSums {
 public:
  WeightSums(DenseTensor* grad, int64_t n) : grad_(grad) {
    if (!grad) return;
    if (grad->dtype() == dtype_of<C>()) {
      data_ = grad->mutable_data<C>();
    } else {
      buffer_.resize(n);
      data_ = buffer_.data();
    }
    std::fill_n(data_, n, C(0));
  }
  /// Null if the gradient is not wanted.
  C* data() { return data_; }
  void finish() {
    if (buffer_.empty()) return;
    visit_dtype(grad_->dtype(), [&]<typename T>() {
      convert(buffer_.data(), grad_->mutable_data<T>(), static_cast<int64_t>(buffer_.size()));
    });
  }

 private:
  DenseTensor* grad_;
  C* data_ = nullptr;
  std::vector<C> buffer_;
};

/// The averages <g> and <g * y> of a row.
template <typename C>
struct Averages {
  C g;
  C gy;
};

/// With y = (x - shift) * factor and g = dy * scale. <g> is 0 if the shift does not depend on x.
template <bool kCentred, typename C>
inline Averages<C> row_averages(const C* x, const C* dy, const C* scale, int64_t n, C shift,
                                C factor) {
  const C count = static_cast<C>(std::max<int64_t>(n, 1));
  const auto of_g = [=](int64_t i) { return dy[i] * scale[i]; };
  const auto of_gx = [=](int64_t i) { return dy[i] * scale[i] * (x[i] - shift); };
  if constexpr (!kCentred) return {C(0), row_sum<C>(n, of_gx) * factor / count};
  const auto [g, gx] = row_sums<C>(n, of_g, of_gx);
  return {g / count, gx * factor / count};
}

template <typename C>
inline void add_weight_terms(const C* x, const C* dy, int64_t n, C shift, C factor, C* scale_sums,
                             C* bias_sums) {
  if (scale_sums && bias_sums) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      scale_sums[i] += dy[i] * ((x[i] - shift) * factor);
      bias_sums[i] += dy[i];
    }
  } else if (scale_sums) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) scale_sums[i] += dy[i] * ((x[i] - shift) * factor);
  } else if (bias_sums) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) bias_sums[i] += dy[i];
  }
}

template <typename C>
inline void input_row(const C* x, const C* dy, const C* scale, int64_t n, C shift, C factor,
                      Averages<C> mean, C* dx) {
  const C slope = mean.gy * factor;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    dx[i] = factor * (dy[i] * scale[i] - mean.g - (x[i] - shift) * slope);
}

/// Computes the gradients of both norms. `shift_of(row)` and `factor_of(row)` normalise a row.
/// kCentred: the shift is the row's mean and thus depends on x.
template <typename T, bool kCentred, typename Shift, typename Factor>
void norm_gradients(const DenseTensor& x, const DenseTensor* scale, const DenseTensor& out_grad,
                    int64_t rows, int64_t n, Shift shift_of, Factor factor_of, DenseTensor* x_grad,
                    DenseTensor* scale_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  RowReader<T> xs(x.data<T>(), n);
  RowReader<T> dys(out_grad.data<T>(), n);
  RowWriter<T> dxs(x_grad ? x_grad->mutable_data<T>() : nullptr, n);
  const ComputeArray<C> given_scales(scale);
  const std::vector<C> ones(scale ? 0 : n, C(1));
  const C* scales = scale ? given_scales.data() : ones.data();
  WeightSums<C> scale_sums(scale_grad, n);
  WeightSums<C> bias_sums(bias_grad, n);
  run_best_isa<C>([&] {
    for (int64_t r = 0; r < rows; ++r) {
      const C* row = xs.row(r);
      const C* dy = dys.row(r);
      const C shift = shift_of(r);
      const C factor = factor_of(r);
      add_weight_terms(row, dy, n, shift, factor, scale_sums.data(), bias_sums.data());
      if (!x_grad) continue;
      const auto mean = row_averages<kCentred>(row, dy, scales, n, shift, factor);
      input_row(row, dy, scales, n, shift, factor, mean, dxs.row(r));
      dxs.done(r);
    }
  });
  scale_sums.finish();
  bias_sums.finish();
}

}  // namespace

/// With y = (x - mean) * f, f = 1 / sqrt(variance + epsilon), g = out_grad * scale and averages <.>
/// over a row:
///   | x_grad = f * (g - <g> - y * <g * y>),  scale_grad = sum over rows of out_grad * y,
///   | bias_grad = sum over rows of out_grad.
/// An output that is not wanted is null. scale_grad and bias_grad have the dtypes of scale and bias
/// and are summed in float (double for double). If rows are sharded they are partial sums.
template <typename T, typename Context>
void LayerNormGradKernel(const Context&, const DenseTensor& x, const DenseTensor* scale,
                         const DenseTensor& mean, const DenseTensor& variance,
                         const DenseTensor& out_grad, float epsilon, int begin_norm_axis,
                         DenseTensor* x_grad, DenseTensor* scale_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const C* means = mean.data<C>();
  const C* variances = variance.data<C>();
  const C small = epsilon;
  norm_gradients<T, true>(
      x, scale, out_grad, x.dims().numel(0, begin_norm_axis),
      x.dims().numel(begin_norm_axis, x.ndim()), [=](int64_t r) { return means[r]; },
      [=](int64_t r) { return C(1) / std::sqrt(variances[r] + small); }, x_grad, scale_grad,
      bias_grad);
}

/// With y = x * invvar: x_grad = invvar * (g - y * <g * y>), scale_grad as above.
template <typename T, typename Context>
void RmsNormGradKernel(const Context&, const DenseTensor& x, const DenseTensor& scale,
                       const DenseTensor& invvar, const DenseTensor& out_grad, DenseTensor* x_grad,
                       DenseTensor* scale_grad) {
  using C = compute_t<T>;
  const C* inverses = invvar.data<C>();
  norm_gradients<T, false>(
      x, &scale, out_grad, x.dims().numel(0, x.ndim() - 1), x.dims().back(),
      [](int64_t) { return C(0); }, [=](int64_t r) { return inverses[r]; }, x_grad, scale_grad,
      nullptr);
}

PHI_REGISTER_KERNEL(layer_norm_grad, CPU, LayerNormGradKernel, Floats);
PHI_REGISTER_KERNEL(rms_norm_grad, CPU, RmsNormGradKernel, Floats);

}  // namespace phi
