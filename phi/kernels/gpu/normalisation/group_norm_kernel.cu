// group_norm, instance_norm and their gradients on GPUs, with one team of threads per group of an
// image. instance_norm has one group per channel.
#include <cmath>

#include "phi/generated/kernels/image_norm.h"
#include "phi/kernels/gpu/compute_array.h"
#include "phi/kernels/gpu/normalisation/channels.h"

namespace phi {
namespace {

using gpu::ChannelDims;
using gpu::SumPair;
using gpu::WalkLines;

/// The images of a batch and their groups of channels.
struct GroupedChannels {
  ChannelDims dims;  // dims of the batch
  int64_t groups;
  gpu::Divider image;     // elements per image
  gpu::Divider of_group;  // channels per group

  GroupedChannels(const Dims& x, int axis, int64_t group_count)
      : dims(x, axis),
        groups(group_count),
        image(x.numel(1, x.ndim())),
        of_group(groups == 0 ? 0 : dims.channels / groups) {}
  /// Lines with the elements of each group, image by image.
  WalkLines lines(int64_t count) const {
    AxisSet within;
    for (const int d : {1, 3, 4}) within.add(d);
    const int64_t outer = count == 0 ? 0 : dims.outer / count;
    return {Dims{count, outer, groups, of_group.by(), dims.inner}, within};
  }
  /// The line that contains a position.
  __device__ int64_t line_of(int64_t at, int64_t c) const {
    return image.quotient(at) * groups + of_group.quotient(c);
  }
};

/// The second saved statistic of a group: the variance, or 1 / sqrt(variance + epsilon).
template <typename C>
struct SavedVariance {
  bool is_inverse;
  double epsilon;
  __device__ C value(double variance) const {
    return static_cast<C>(is_inverse ? inverse(variance) : variance);
  }
  __device__ double inverse(double variance) const { return 1 / std::sqrt(variance + epsilon); }
  __device__ double inverse_of(C kept) const {
    const auto number = static_cast<double>(kept);
    return is_inverse ? number : inverse(number);
  }
};

template <typename T>
struct NormaliseGroup {
  using C = compute_t<T>;
  GroupedChannels images;
  WalkLines lines;
  SavedVariance<C> kept;
  const T* x;
  const C* scale;
  const C* bias;
  T* y;
  C* means;
  C* spreads;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const int64_t first = lines.start(line);
    const double count = static_cast<double>(lines.n > 1 ? lines.n : 1);
    const auto value = [&](int64_t k) { return static_cast<C>(x[first + lines.at(k)]); };
    const double mean = team.template wide_sum<C>(lines.n, value) / count;
    const C centre = static_cast<C>(mean);
    const auto square = [&](int64_t k) { return (value(k) - centre) * (value(k) - centre); };
    const double variance = team.template wide_sum<C>(lines.n, square) / count;
    if (team.index() == 0) {
      means[line] = centre;
      spreads[line] = kept.value(variance);
    }
    const C inverse = static_cast<C>(kept.inverse(variance));
    team.each(lines.n, [&](int64_t k) {
      const int64_t at = first + lines.at(k);
      const int64_t c = images.dims.channel_of(at);
      const C factor = scale ? inverse * scale[c] : inverse;
      y[at] = static_cast<T>((static_cast<C>(x[at]) - centre) * factor + (bias ? bias[c] : C(0)));
    });
  }
};

/// With f = 1 / sqrt(variance + epsilon), h = (x - mean) * f, g = y_grad * scale and averages <.>
/// over a group: x_grad = f * (g - <g> - h * <g * h>).
template <typename T>
struct GroupGradient {
  using C = compute_t<T>;
  GroupedChannels images;
  WalkLines lines;
  SavedVariance<C> kept;
  const T* x;
  const C* scale;
  const C* means;
  const C* spreads;
  const T* y_grad;
  T* x_grad;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const int64_t first = lines.start(line);
    const C mean = means[line];
    const double f = kept.inverse_of(spreads[line]);
    const double count = static_cast<double>(lines.n > 1 ? lines.n : 1);
    const auto g_at = [&](int64_t at) {
      const C g = static_cast<C>(y_grad[at]);
      return scale ? g * scale[images.dims.channel_of(at)] : g;
    };
    const auto sums = team.template wide_sum<gpu::SumPair<C>>(lines.n, [&](int64_t k) {
      const int64_t at = first + lines.at(k);
      return SumPair<C>{g_at(at), (static_cast<C>(x[at]) - mean) * g_at(at)};
    });
    const C factor = static_cast<C>(f);
    const C average = static_cast<C>(f * sums.a / count);
    const C slope = static_cast<C>(f * f * f * sums.b / count);
    team.each(lines.n, [&](int64_t k) {
      const int64_t at = first + lines.at(k);
      x_grad[at] =
          static_cast<T>(factor * g_at(at) - average - (static_cast<C>(x[at]) - mean) * slope);
    });
  }
};

/// An element's terms of the gradients of its channel's bias and scale.
template <typename T>
struct WeightTerms {
  using C = compute_t<T>;
  GroupedChannels images;
  SavedVariance<C> kept;
  const T* x;
  const T* y_grad;
  const C* means;
  const C* spreads;
  __device__ SumPair<C> operator()(int64_t at, int64_t c) const {
    const int64_t line = images.line_of(at, c);
    const C g = static_cast<C>(y_grad[at]);
    const C inverse = static_cast<C>(kept.inverse_of(spreads[line]));
    return {g, (static_cast<C>(x[at]) - means[line]) * inverse * g};
  }
};

template <typename T>
void normalise(const GpuContext& ctx, const GroupedChannels& images,
               const SavedVariance<compute_t<T>>& kept, const DenseTensor& x,
               const DenseTensor* scale, const DenseTensor* bias, DenseTensor* y,
               DenseTensor* means, DenseTensor* spreads) {
  using C = compute_t<T>;
  const gpu::ComputeArray<C> scales(ctx, scale);
  const gpu::ComputeArray<C> biases(ctx, bias);
  const WalkLines lines = images.lines(x.dims()[0]);
  for_each_line(ctx, lines,
                NormaliseGroup<T>{images, lines, kept, x.data<T>(), scales.data(), biases.data(),
                                  y->mutable_data<T>(), means->mutable_data<C>(),
                                  spreads->mutable_data<C>()});
}

/// Gradients of scale and bias. A null one is not computed.
template <typename T>
void weight_gradients(const GpuContext& ctx, const GroupedChannels& images,
                      const WeightTerms<T>& terms, DenseTensor* scale_grad,
                      DenseTensor* bias_grad) {
  const int64_t channels = images.dims.channels;
  if ((!scale_grad && !bias_grad) || channels == 0) return;
  DenseTensor sums = DenseTensor::empty({{2, channels}, DataType::FLOAT64}, ctx.place());
  gpu::channel_sums<compute_t<T>>(ctx, images.dims, terms, sums.mutable_data<double>());
  const auto write = [&](const double* from, DenseTensor* grad) {
    if (!grad) return;
    gpu::visit_floating(grad->dtype(), [&]<typename To>() {
      convert(ctx, from, grad->mutable_data<To>(), channels);
    });
  };
  write(sums.data<double>(), bias_grad);
  write(sums.data<double>() + channels, scale_grad);
}

template <typename T>
void gradients(const GpuContext& ctx, const GroupedChannels& images,
               const SavedVariance<compute_t<T>>& kept, const DenseTensor& x,
               const DenseTensor* scale, const DenseTensor& mean, const DenseTensor& spread,
               const DenseTensor& y_grad, DenseTensor* x_grad, DenseTensor* scale_grad,
               DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const WeightTerms<T> terms{images,           kept,           x.data<T>(),
                             y_grad.data<T>(), mean.data<C>(), spread.data<C>()};
  weight_gradients(ctx, images, terms, scale_grad, bias_grad);
  if (!x_grad) return;
  const gpu::ComputeArray<C> scales(ctx, scale);
  const WalkLines lines = images.lines(x.dims()[0]);
  for_each_line(ctx, lines,
                GroupGradient<T>{images, lines, kept, x.data<T>(), scales.data(), mean.data<C>(),
                                 spread.data<C>(), y_grad.data<T>(), x_grad->mutable_data<T>()});
}

}  // namespace

/// mean and variance are [images, groups].
template <typename T, typename Context>
void GroupNormKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* scale,
                     const DenseTensor* bias, float epsilon, int groups,
                     const std::string& data_format, DenseTensor* y, DenseTensor* mean,
                     DenseTensor* variance) {
  const GroupedChannels images(x.dims(), gpu::channel_axis(x.ndim(), data_format), groups);
  normalise<T>(ctx, images, {false, epsilon}, x, scale, bias, y, mean, variance);
}

template <typename T, typename Context>
void GroupNormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* scale,
                         const DenseTensor& mean, const DenseTensor& variance,
                         const DenseTensor& y_grad, float epsilon, int groups,
                         const std::string& data_format, DenseTensor* x_grad,
                         DenseTensor* scale_grad, DenseTensor* bias_grad) {
  const GroupedChannels images(x.dims(), gpu::channel_axis(x.ndim(), data_format), groups);
  gradients<T>(ctx, images, {false, epsilon}, x, scale, mean, variance, y_grad, x_grad, scale_grad,
               bias_grad);
}

/// saved_variance is 1 / sqrt(variance + epsilon); both saved ones are [images, channels].
template <typename T, typename Context>
void InstanceNormKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* scale,
                        const DenseTensor* bias, float epsilon, DenseTensor* y,
                        DenseTensor* saved_mean, DenseTensor* saved_variance) {
  const GroupedChannels images(x.dims(), 1, x.dims()[1]);
  normalise<T>(ctx, images, {true, epsilon}, x, scale, bias, y, saved_mean, saved_variance);
}

template <typename T, typename Context>
void InstanceNormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* scale,
                            const DenseTensor& saved_mean, const DenseTensor& saved_variance,
                            const DenseTensor& y_grad, DenseTensor* x_grad, DenseTensor* scale_grad,
                            DenseTensor* bias_grad) {
  const GroupedChannels images(x.dims(), 1, x.dims()[1]);
  gradients<T>(ctx, images, {true, 0}, x, scale, saved_mean, saved_variance, y_grad, x_grad,
               scale_grad, bias_grad);
}

PHI_REGISTER_KERNEL(group_norm, GPU, GroupNormKernel, Floats);
PHI_REGISTER_KERNEL(group_norm_grad, GPU, GroupNormGradKernel, Floats);
PHI_REGISTER_KERNEL(instance_norm, GPU, InstanceNormKernel, Floats);
PHI_REGISTER_KERNEL(instance_norm_grad, GPU, InstanceNormGradKernel, Floats);

}  // namespace phi
