// batch_norm and its gradient on the CPU. If ranks hold parts of the batch or of the images, they
// combine their sums: statistics are those of the whole batch.
#include <cmath>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/core/scratch_array.h"
#include "phi/generated/kernels/image_norm.h"
#include "phi/infermeta/image_norm.h"
#include "phi/kernels/cpu/normalisation/channels.h"
#include "phi/kernels/cpu/normalisation/write_converted.h"

namespace phi {
namespace {

/// The local part of the batch, and sums of its channels over all ranks.
class LocalBatch {
 public:
  LocalBatch(const KernelContext& ctx, const DenseTensor& x, const std::string& data_format)
      : ctx_(ctx),
        ndim_(x.ndim()),
        axis_(channel_axis(x.ndim(), data_format)),
        dims_(ChannelDims::of(x.dims(), axis_)) {
    const Dims global = ctx.input_box(0, x.dims()).global;
    count_ = 1;
    for (int d = 0; d < ndim_; ++d) count_ *= d == axis_ ? 1 : global[d];
  }
  const ChannelDims& dims() const { return dims_; }
  bool is_empty() const { return count_ == 0; }
  /// Returns the number of elements of a channel on all ranks, at least 1.
  double count() const { return static_cast<double>(std::max<int64_t>(count_, 1)); }

  /// Returns ranges of channels to process one after the other. If other ranks hold parts of the
  /// channels, it is one range, because each sum is a message.
  std::vector<ChannelRange> ranges(size_t element_bytes) const {
    if (ctx_.view()) return {{0, dims_.channels}};
    return ranges_in_cache(dims_, element_bytes);
  }
  /// Computes the sums of the channels in `range`, one of ranges(), over their elements on all
  /// ranks.
  template <typename T, typename... Terms>
  void sum(const ChannelRange& range, const T* x, const T* y,
           const ChannelSum<Terms>&... sums) const {
    (std::fill(sums.to + range.first, sums.to + range.last, 0.0), ...);
    channel_sums(dims_, range, x, y, sums...);
    if (ctx_.view()) (combine(sums.to), ...);
  }
  /// Counts the messages of `count` sums.
  void plan_sums(int count) const {
    DenseTensor sums = scratch_array({Dims{dims_.channels}, DataType::FLOAT64}, ctx_.place());
    for (int i = 0; i < count; ++i) combine(&sums);
  }

 private:
  void combine(double* sums) const {
    DenseTensor all = scratch_array({Dims{dims_.channels}, DataType::FLOAT64}, CPUPlace());
    std::copy_n(sums, dims_.channels, all.mutable_data<double>());
    combine(&all);
    std::copy_n(all.data<double>(), dims_.channels, sums);
  }
  void combine(DenseTensor* sums) const {
    for (int d = 0; ctx_.view() && d < ndim_; ++d)
      if (d != axis_) ctx_.view()->combine_over(0, d, CombineKind::kSum, sums);
  }

  const KernelContext& ctx_;
  int ndim_;
  int axis_;
  ChannelDims dims_;
  int64_t count_;
};

template <typename C>
double number(const ComputeArray<C>& values, int64_t c, double otherwise) {
  return values.data() ? static_cast<double>(values.data()[c]) : otherwise;
}

std::vector<double> read_statistics(const DenseTensor& x) {
  std::vector<double> values(x.numel());
  visit_dtype(x.dtype(),
              [&]<typename From>() { convert(x.data<From>(), values.data(), x.numel()); });
  return values;
}

std::vector<double> blended(const std::vector<double>& old, const std::vector<double>& now,
                            double momentum) {
  std::vector<double> result(old.size());
  for (size_t c = 0; c < old.size(); ++c) result[c] = old[c] * momentum + now[c] * (1 - momentum);
  return result;
}

/// Computes mean and variance of the batch for the channels in `range`, and in `centre` the mean in
/// the compute type. The variance is computed around the rounded mean and then corrected for the
/// rounding.
template <typename T, typename C>
void find_statistics(const LocalBatch& batch, const ChannelRange& range, const T* x, C* centre,
                     double* means, double* variances, double* rest) {
  batch.sum(range, x, x, ChannelSum{[](C v, C, int64_t) { return v; }, means});
  for (int64_t c = range.first; c < range.last; ++c) {
    centre[c] = static_cast<C>(means[c] / batch.count());
  }
  batch.sum(range, x, x, ChannelSum{[centre](C v, C, int64_t c) { return v - centre[c]; }, rest},
            ChannelSum{[centre](C v, C, int64_t c) { return (v - centre[c]) * (v - centre[c]); },
                       variances});
  for (int64_t c = range.first; c < range.last; ++c) {
    const double lost = rest[c] / batch.count();
    variances[c] = variances[c] / batch.count() - lost * lost;
    means[c] = static_cast<double>(centre[c]) + lost;
    centre[c] = static_cast<C>(means[c]);
  }
}

}  // namespace

/// out = (x - mean) / sqrt(variance + epsilon) * scale + bias for each channel (Ioffe, Szegedy:
/// Batch Normalization, 2015).
///
/// - mean and variance (the population's) are the batch's in training, otherwise the running ones.
/// - mean_out and variance_out are the running ones. If the batch's are used, they are updated with
///   weight 1 - momentum; a batch without elements updates nothing.
/// - saved_mean and saved_variance, which is 1 / sqrt(variance + epsilon), are the ones that were
///   used.
template <typename T, typename Context>
void BatchNormKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& mean,
                     const DenseTensor& variance, const DenseTensor* scale, const DenseTensor* bias,
                     bool is_test, float momentum, float epsilon, const std::string& data_format,
                     bool use_global_stats, bool trainable_statistics, DenseTensor* out,
                     DenseTensor* mean_out, DenseTensor* variance_out, DenseTensor* saved_mean,
                     DenseTensor* saved_variance) {
  using C = compute_t<T>;
  const LocalBatch batch(ctx, x, data_format);
  const T* xs = x.data<T>();
  const std::vector<double> old_means = read_statistics(mean),
                            old_variances = read_statistics(variance);
  std::vector<double> means = old_means, variances = old_variances;
  std::vector<double> rest(means.size()), inverse(means.size());
  const ComputeArray<C> scales(scale);
  const ComputeArray<C> biases(bias);
  std::vector<C> centre(means.begin(), means.end()), factor(means.size()), shift(means.size());
  const bool of_batch =
      !batch.is_empty() && uses_batch_statistics(is_test, use_global_stats, trainable_statistics);
  for (const ChannelRange& range : batch.ranges(sizeof(T))) {
    if (of_batch) {
      find_statistics(batch, range, xs, centre.data(), means.data(), variances.data(), rest.data());
    }
    for (int64_t c = range.first; c < range.last; ++c) {
      inverse[c] = 1 / std::sqrt(variances[c] + epsilon);
      factor[c] = static_cast<C>(inverse[c] * number(scales, c, 1));
      shift[c] = static_cast<C>(number(biases, c, 0));
    }
    channel_map(batch.dims(), range, xs, xs, out->mutable_data<T>(),
                [m = centre.data(), a = factor.data(), b = shift.data()](C v, C, int64_t c) {
                  return (v - m[c]) * a[c] + b[c];
                });
  }
  write_converted(of_batch ? blended(old_means, means, momentum) : means, mean_out);
  write_converted(of_batch ? blended(old_variances, variances, momentum) : variances, variance_out);
  write_converted(means, saved_mean);
  write_converted(inverse, saved_variance);
}

/// With y = (x - saved_mean) * saved_variance and averages <.> over a channel: if the batch's
/// statistics were used, x_grad = saved_variance * scale * (out_grad - <out_grad> - y * <out_grad *
/// y>), otherwise the same without the averages. scale_grad = sum of out_grad * y, bias_grad = sum
/// of out_grad. An output that is not wanted is null.
template <typename T, typename Context>
void BatchNormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* scale,
                         const DenseTensor& saved_mean, const DenseTensor& saved_variance,
                         const DenseTensor& out_grad, const std::string& data_format, bool is_test,
                         bool use_global_stats, bool trainable_statistics, DenseTensor* x_grad,
                         DenseTensor* scale_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const LocalBatch batch(ctx, x, data_format);
  const T* xs = x.data<T>();
  const T* dys = out_grad.data<T>();
  const std::vector<double> means = read_statistics(saved_mean),
                            inverse = read_statistics(saved_variance);
  const std::vector<C> centre(means.begin(), means.end());
  const ComputeArray<C> scales(scale);
  const bool of_batch = uses_batch_statistics(is_test, use_global_stats, trainable_statistics);
  std::vector<double> of_g(inverse.size()), of_gy(inverse.size());
  std::vector<C> factor(inverse.size()), average(inverse.size()), slope(inverse.size());
  const ChannelSum g_sum{[](C, C g, int64_t) { return g; }, of_g.data()};
  const ChannelSum gy_sum{[m = centre.data()](C v, C g, int64_t c) { return (v - m[c]) * g; },
                          of_gy.data()};
  for (const ChannelRange& range : batch.ranges(sizeof(T))) {
    batch.sum(range, xs, dys, g_sum, gy_sum);
    for (int64_t c = range.first; c < range.last; ++c) {
      of_gy[c] *= inverse[c];
      factor[c] = static_cast<C>(inverse[c] * number(scales, c, 1));
      average[c] = static_cast<C>(of_batch ? of_g[c] / batch.count() : 0);
      slope[c] = static_cast<C>(of_batch ? of_gy[c] / batch.count() * inverse[c] : 0);
    }
    if (!x_grad) continue;
    channel_map(batch.dims(), range, xs, dys, x_grad->mutable_data<T>(),
                [m = centre.data(), f = factor.data(), a = average.data(), s = slope.data(),
                 of_batch](C v, C g, int64_t c) {
                  return of_batch ? f[c] * (g - a[c] - (v - m[c]) * s[c]) : f[c] * g;
                });
  }
  if (scale_grad) write_converted(of_gy, scale_grad);
  if (bias_grad) write_converted(of_g, bias_grad);
}

// Dry runs count the messages of both kernels.
template <typename T, typename Context>
void BatchNormDry(const Context& ctx, const DenseTensor& x, const DenseTensor&, const DenseTensor&,
                  const DenseTensor*, const DenseTensor*, bool is_test, float, float,
                  const std::string& data_format, bool use_global_stats, bool trainable_statistics,
                  DenseTensor*, DenseTensor*, DenseTensor*, DenseTensor*, DenseTensor*) {
  const LocalBatch batch(ctx, x, data_format);
  const bool of_batch =
      !batch.is_empty() && uses_batch_statistics(is_test, use_global_stats, trainable_statistics);
  batch.plan_sums(of_batch ? 3 : 0);
}
template <typename T, typename Context>
void BatchNormGradDry(const Context& ctx, const DenseTensor& x, const DenseTensor*,
                      const DenseTensor&, const DenseTensor&, const DenseTensor&,
                      const std::string& data_format, bool, bool, bool, DenseTensor*, DenseTensor*,
                      DenseTensor*) {
  LocalBatch(ctx, x, data_format).plan_sums(2);
}

PHI_REGISTER_KERNEL(batch_norm, CPU, BatchNormKernel, Floats);
PHI_REGISTER_DRY_KERNEL(batch_norm, BatchNormDry, Floats);
PHI_REGISTER_KERNEL(batch_norm_grad, CPU, BatchNormGradKernel, Floats);
PHI_REGISTER_DRY_KERNEL(batch_norm_grad, BatchNormGradDry, Floats);

}  // namespace phi
