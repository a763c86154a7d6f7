// batch_norm and its gradient on GPUs. If ranks have shards of the batch or of the images, their
// sums are added: statistics are those of the global batch.
#include <cmath>

#include "phi/generated/kernels/image_norm.h"
#include "phi/infermeta/image_norm.h"
#include "phi/kernels/gpu/compute_array.h"
#include "phi/kernels/gpu/normalisation/channels.h"

namespace phi {
namespace {

using gpu::ChannelDims;
using gpu::SumPair;

/// x as a shard of the global batch, and sums per channel over all ranks.
class BatchChannels {
 public:
  BatchChannels(const GpuContext& ctx, const DenseTensor& x, const std::string& data_format)
      : ctx_(ctx),
        ndim_(x.ndim()),
        axis_(gpu::channel_axis(x.ndim(), data_format)),
        dims_(x.dims(), axis_) {
    const Dims global = ctx.input_box(0, x.dims()).global;
    for (int d = 0; d < ndim_; ++d) count_ *= d == axis_ ? 1 : global[d];
  }
  const ChannelDims& dims() const { return dims_; }
  int64_t channels() const { return dims_.channels; }
  bool is_empty() const { return count_ == 0; }
  /// Elements per channel on all ranks, at least 1.
  double count() const { return static_cast<double>(std::max<int64_t>(count_, 1)); }

  /// [2, channels]: two sums for each local channel, over all its elements on all ranks.
  template <typename C, typename Term>
  DenseTensor sums(const Term& term) const {
    DenseTensor sums = DenseTensor::empty({{2, dims_.channels}, DataType::FLOAT64}, ctx_.place());
    gpu::channel_sums<C>(ctx_, dims_, term, sums.mutable_data<double>());
    for (int d = 0; ctx_.view() && d < ndim_; ++d)
      if (d != axis_) ctx_.view()->combine_over(0, d, CombineKind::kSum, &sums);
    return sums;
  }
  /// Allocates one number per channel.
  template <typename C>
  DenseTensor room() const {
    return DenseTensor::empty({{dims_.channels}, dtype_of<C>()}, ctx_.place());
  }

 private:
  const GpuContext& ctx_;
  int ndim_;
  int axis_;
  ChannelDims dims_;
  int64_t count_ = 1;
};

template <typename T>
struct Element {
  const T* x;
  template <typename C = compute_t<T>>
  __device__ SumPair<C> operator()(int64_t at, int64_t) const {
    return {static_cast<C>(x[at]), C(0)};
  }
};

/// Terms relative to a mean that is rounded to the compute type. What the rounding lost is
/// corrected afterwards.
template <typename T>
struct AroundMean {
  using C = compute_t<T>;
  const T* x;
  const C* around;
  __device__ SumPair<C> operator()(int64_t at, int64_t c) const {
    const C off = static_cast<C>(x[at]) - around[c];
    return {off, off * off};
  }
};

template <typename C>
struct MeanOf {
  double count;
  PHI_HD C operator()(double sum) const { return static_cast<C>(sum / count); }
};

/// Computes and updates the statistics of one channel.
template <typename C>
struct ChannelStatistics {
  // Sums of the batch, relative to `around`; null if the running statistics are used.
  const double* sums;
  const C* around;
  double count;
  double momentum;
  double epsilon;
  const double* mean;  // running statistics
  const double* variance;
  double* mean_out;
  double* variance_out;
  C* saved_mean;
  C* saved_variance;
  int64_t channels;

  __device__ void operator()(int64_t c) const {
    double now = mean[c];
    double spread = variance[c];
    if (sums) {
      const double lost = sums[c] / count;
      now = static_cast<double>(around[c]) + lost;
      spread = sums[channels + c] / count - lost * lost;
      mean_out[c] = mean[c] * momentum + now * (1 - momentum);
      variance_out[c] = variance[c] * momentum + spread * (1 - momentum);
    } else {
      mean_out[c] = now;
      variance_out[c] = spread;
    }
    saved_mean[c] = static_cast<C>(now);
    saved_variance[c] = static_cast<C>(1 / std::sqrt(spread + epsilon));
  }
};

template <typename F>
__global__ void for_channels(int64_t channels, F f) {
  for (int64_t c = gpu::first_item(); c < channels; c += gpu::item_stride()) f(c);
}

template <typename T>
struct Normalise {
  using C = compute_t<T>;
  const T* x;
  const C* mean;
  const C* inverse;
  const C* scale;  // null: all ones
  const C* bias;   // null: all zeros
  __device__ C operator()(int64_t at, int64_t c) const {
    const C factor = scale ? inverse[c] * scale[c] : inverse[c];
    return (static_cast<C>(x[at]) - mean[c]) * factor + (bias ? bias[c] : C(0));
  }
};

template <typename T>
struct GradTerms {
  using C = compute_t<T>;
  const T* x;
  const T* out_grad;
  const C* mean;
  __device__ SumPair<C> operator()(int64_t at, int64_t c) const {
    const C g = static_cast<C>(out_grad[at]);
    return {g, (static_cast<C>(x[at]) - mean[c]) * g};
  }
};

/// Gradients of one channel's scale and bias. A null one is not computed.
template <typename C>
struct WeightGradients {
  const double* sums;
  const C* inverse;
  C* scale_grad;
  C* bias_grad;
  int64_t channels;
  __device__ void operator()(int64_t c) const {
    if (bias_grad) bias_grad[c] = static_cast<C>(sums[c]);
    if (scale_grad)
      scale_grad[c] = static_cast<C>(sums[channels + c] * static_cast<double>(inverse[c]));
  }
};

/// `sums` is null if the statistics did not depend on x.
template <typename T>
struct InputGradient {
  using C = compute_t<T>;
  const T* x;
  const T* out_grad;
  const C* mean;
  const C* inverse;
  const C* scale;
  const double* sums;
  double count;
  int64_t channels;
  __device__ C operator()(int64_t at, int64_t c) const {
    const C factor = scale ? inverse[c] * scale[c] : inverse[c];
    const C g = static_cast<C>(out_grad[at]);
    if (!sums) return factor * g;
    const C share = C(1) / static_cast<C>(count);
    const C average = static_cast<C>(sums[c]) * share;
    const C slope = static_cast<C>(sums[channels + c]) * share * inverse[c] * inverse[c];
    return factor * (g - average - (static_cast<C>(x[at]) - mean[c]) * slope);
  }
};

/// Returns [2, channels] sums relative to the means, which are written to `around`.
template <typename T>
DenseTensor batch_sums(const GpuContext& ctx, const BatchChannels& batch, const T* x,
                       compute_t<T>* around) {
  using C = compute_t<T>;
  const DenseTensor sums = batch.sums<C>(Element<T>{x});
  unary_loop(ctx, sums.data<double>(), around, batch.channels(), MeanOf<C>{batch.count()});
  return batch.sums<C>(AroundMean<T>{x, around});
}

}  // namespace

template <typename T, typename Context>
void BatchNormKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& mean,
                     const DenseTensor& variance, const DenseTensor* scale, const DenseTensor* bias,
                     bool is_test, float momentum, float epsilon, const std::string& data_format,
                     bool use_global_stats, bool trainable_statistics, DenseTensor* out,
                     DenseTensor* mean_out, DenseTensor* variance_out, DenseTensor* saved_mean,
                     DenseTensor* saved_variance) {
  using C = compute_t<T>;
  const BatchChannels batch(ctx, x, data_format);
  const int64_t channels = batch.channels();
  if (channels == 0) return;
  const bool of_batch =
      !batch.is_empty() && uses_batch_statistics(is_test, use_global_stats, trainable_statistics);
  DenseTensor around = batch.room<C>();
  DenseTensor sums;
  if (of_batch) sums = batch_sums<T>(ctx, batch, x.data<T>(), around.mutable_data<C>());
  const gpu::ComputeArray<double> means(ctx, &mean);
  const gpu::ComputeArray<double> variances(ctx, &variance);
  gpu::ComputeResult<double> means_out(ctx, mean_out);
  gpu::ComputeResult<double> variances_out(ctx, variance_out);
  gpu::ComputeResult<C> saved_means(ctx, saved_mean);
  gpu::ComputeResult<C> saved_variances(ctx, saved_variance);
  const ChannelStatistics<C> statistics{of_batch ? sums.data<double>() : nullptr,
                                        around.data<C>(),
                                        batch.count(),
                                        momentum,
                                        epsilon,
                                        means.data(),
                                        variances.data(),
                                        means_out.data(),
                                        variances_out.data(),
                                        saved_means.data(),
                                        saved_variances.data(),
                                        channels};
  gpu::launch(ctx, for_channels<ChannelStatistics<C>>, gpu::blocks_for(ctx, channels), gpu::kBlock,
              channels, statistics);
  means_out.finish();
  variances_out.finish();
  saved_means.finish();
  saved_variances.finish();
  const gpu::ComputeArray<C> scales(ctx, scale);
  const gpu::ComputeArray<C> biases(ctx, bias);
  gpu::channel_map(ctx, batch.dims(),
                   Normalise<T>{x.data<T>(), saved_means.data(), saved_variances.data(),
                                scales.data(), biases.data()},
                   out->mutable_data<T>());
}

/// A null output is not computed.
template <typename T, typename Context>
void BatchNormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* scale,
                         const DenseTensor& saved_mean, const DenseTensor& saved_variance,
                         const DenseTensor& out_grad, const std::string& data_format, bool is_test,
                         bool use_global_stats, bool trainable_statistics, DenseTensor* x_grad,
                         DenseTensor* scale_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const BatchChannels batch(ctx, x, data_format);
  const int64_t channels = batch.channels();
  if (channels == 0) return;
  const gpu::ComputeArray<C> means(ctx, &saved_mean);
  const gpu::ComputeArray<C> inverses(ctx, &saved_variance);
  const DenseTensor sums =
      batch.sums<C>(GradTerms<T>{x.data<T>(), out_grad.data<T>(), means.data()});
  gpu::ComputeResult<C> scale_result(ctx, scale_grad);
  gpu::ComputeResult<C> bias_result(ctx, bias_grad);
  const WeightGradients<C> weights{sums.data<double>(), inverses.data(), scale_result.data(),
                                   bias_result.data(), channels};
  gpu::launch(ctx, for_channels<WeightGradients<C>>, gpu::blocks_for(ctx, channels), gpu::kBlock,
              channels, weights);
  scale_result.finish();
  bias_result.finish();
  if (!x_grad) return;
  const gpu::ComputeArray<C> scales(ctx, scale);
  const bool of_batch = uses_batch_statistics(is_test, use_global_stats, trainable_statistics);
  gpu::channel_map(ctx, batch.dims(),
                   InputGradient<T>{x.data<T>(), out_grad.data<T>(), means.data(), inverses.data(),
                                    scales.data(), of_batch ? sums.data<double>() : nullptr,
                                    batch.count(), channels},
                   x_grad->mutable_data<T>());
}

PHI_REGISTER_KERNEL(batch_norm, GPU, BatchNormKernel, Floats);
PHI_REGISTER_KERNEL(batch_norm_grad, GPU, BatchNormGradKernel, Floats);

}  // namespace phi
