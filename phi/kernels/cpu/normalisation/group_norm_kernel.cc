// group_norm and instance_norm with their gradients on the CPU: each image by itself, over groups
// of its channels. An instance norm has a group for each channel.
#include <cmath>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image_norm.h"
#include "phi/kernels/cpu/normalisation/channels.h"

namespace phi {
namespace {

/// The images of a batch, each [outer, channels, inner], and the groups of their channels.
struct Images {
  int64_t count;
  ChannelDims dims;
  int64_t groups;

  Images(const Dims& x, int axis, int64_t group_count) : count(x[0]), groups(group_count) {
    dims = {x.numel(1, axis), x[axis], x.numel(axis + 1, x.ndim())};
  }
  int64_t per_group() const { return dims.channels / groups; }
  /// The elements of a group, 1 at the least.
  double elements() const {
    return static_cast<double>(std::max<int64_t>(dims.numel() / std::max<int64_t>(groups, 1), 1));
  }
  int64_t group_of(int64_t c) const { return c / per_group(); }
};

/// Sums over channels to sums over groups.
void fold(const Images& images, const std::vector<double>& channels, std::vector<double>* groups) {
  std::fill(groups->begin(), groups->end(), 0.0);
  for (int64_t c = 0; c < images.dims.channels; ++c) (*groups)[images.group_of(c)] += channels[c];
}

/// Numbers of the computing type for each channel.
template <typename C>
struct PerChannel {
  explicit PerChannel(int64_t channels) : centre(channels), factor(channels), shift(channels) {}
  std::vector<C> centre;
  std::vector<C> factor;
  std::vector<C> shift;
};

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias; `kept(image, group, mean, variance)`
/// takes the statistics.
template <typename T, typename Keep>
void normalise(const Images& images, const DenseTensor& x, const DenseTensor* scale,
               const DenseTensor* bias, float epsilon, DenseTensor* y, const Keep& kept) {
  using C = compute_t<T>;
  const ComputeArray<C> scales(scale);
  const ComputeArray<C> biases(bias);
  const int64_t channels = images.dims.channels;
  const int64_t size = images.dims.numel();
  std::vector<double> sums(channels);
  std::vector<double> means(images.groups);
  std::vector<double> variances(images.groups);
  PerChannel<C> at(channels);
  for (int64_t n = 0; n < images.count; ++n) {
    const T* from = x.data<T>() + n * size;
    std::fill(sums.begin(), sums.end(), 0.0);
    channel_sums(
        images.dims, from, from, [](C v, C, int64_t) { return v; }, sums.data());
    fold(images, sums, &means);
    for (double& mean : means) mean /= images.elements();
    for (int64_t c = 0; c < channels; ++c) at.centre[c] = static_cast<C>(means[images.group_of(c)]);
    std::fill(sums.begin(), sums.end(), 0.0);
    channel_sums(
        images.dims, from, from,
        [m = at.centre.data()](C v, C, int64_t c) { return (v - m[c]) * (v - m[c]); }, sums.data());
    fold(images, sums, &variances);
    for (int64_t g = 0; g < images.groups; ++g) {
      variances[g] /= images.elements();
      kept(n, g, means[g], variances[g]);
    }
    for (int64_t c = 0; c < channels; ++c) {
      const double inverse = 1 / std::sqrt(variances[images.group_of(c)] + epsilon);
      at.factor[c] = static_cast<C>(inverse * (scale ? scales.data()[c] : C(1)));
      at.shift[c] = bias ? biases.data()[c] : C(0);
    }
    channel_map(images.dims, from, from, y->mutable_data<T>() + n * size,
                [m = at.centre.data(), a = at.factor.data(), b = at.shift.data()](
                    C v, C, int64_t c) { return (v - m[c]) * a[c] + b[c]; });
  }
}

void write(const std::vector<double>& values, DenseTensor* out) {
  if (!out) return;
  visit_dtype(out->dtype(), [&]<typename To>() {
    convert(values.data(), out->mutable_data<To>(), static_cast<int64_t>(values.size()));
  });
}

/// What the gradient of one image takes.
template <typename C>
struct Slopes {
  explicit Slopes(int64_t channels)
      : centre(channels), factor(channels), average(channels), slope(channels) {}
  std::vector<C> centre;
  std::vector<C> factor;   // of the output's gradient
  std::vector<C> average;  // of g = out_grad * scale over the group, times the inverse deviation
  std::vector<C> slope;
};

/// With f = 1 / sqrt(variance + epsilon), h = (x - mean) * f, g = y_grad * scale and averages <.>
/// over a group: x_grad = f * (g - <g> - h * <g * h>). `mean(image, group)`, `inverse(image,
/// group)` give mean and f. Each gradient may be null.
template <typename T, typename Mean, typename Inverse>
void gradients(const Images& images, const DenseTensor& x, const DenseTensor* scale,
               const DenseTensor& y_grad, const Mean& mean, const Inverse& inverse,
               DenseTensor* x_grad, DenseTensor* scale_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const ComputeArray<C> scales(scale);
  const int64_t channels = images.dims.channels;
  const int64_t size = images.dims.numel();
  std::vector<double> of_g(channels), of_gh(channels);
  std::vector<double> group_g(images.groups), group_gh(images.groups);
  std::vector<double> scale_sums(channels), bias_sums(channels);
  Slopes<C> at(channels);
  for (int64_t n = 0; n < images.count; ++n) {
    const T* from = x.data<T>() + n * size;
    const T* dy = y_grad.data<T>() + n * size;
    for (int64_t c = 0; c < channels; ++c)
      at.centre[c] = static_cast<C>(mean(n, images.group_of(c)));
    std::fill(of_g.begin(), of_g.end(), 0.0);
    std::fill(of_gh.begin(), of_gh.end(), 0.0);
    channel_sums(
        images.dims, dy, dy, [](C g, C, int64_t) { return g; }, of_g.data());
    channel_sums(
        images.dims, from, dy,
        [m = at.centre.data()](C v, C g, int64_t c) { return (v - m[c]) * g; }, of_gh.data());
    for (int64_t c = 0; c < channels; ++c) {
      of_gh[c] *= inverse(n, images.group_of(c));
      scale_sums[c] += of_gh[c];
      bias_sums[c] += of_g[c];
      const double weight = scale ? static_cast<double>(scales.data()[c]) : 1.0;
      of_g[c] *= weight;
      of_gh[c] *= weight;
    }
    if (!x_grad) continue;
    fold(images, of_g, &group_g);
    fold(images, of_gh, &group_gh);
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t g = images.group_of(c);
      const double f = inverse(n, g);
      at.factor[c] = static_cast<C>(f * (scale ? static_cast<double>(scales.data()[c]) : 1.0));
      at.average[c] = static_cast<C>(f * group_g[g] / images.elements());
      at.slope[c] = static_cast<C>(f * f * group_gh[g] / images.elements());
    }
    channel_map(
        images.dims, from, dy, x_grad->mutable_data<T>() + n * size,
        [m = at.centre.data(), f = at.factor.data(), a = at.average.data(), s = at.slope.data()](
            C v, C g, int64_t c) { return f[c] * g - a[c] - (v - m[c]) * s[c]; });
  }
  write(scale_sums, scale_grad);
  write(bias_sums, bias_grad);
}

}  // namespace

/// mean and variance are [images, groups].
/// Wu, He: Group Normalization, 2018.
template <typename T, typename Context>
void GroupNormKernel(const Context&, const DenseTensor& x, const DenseTensor* scale,
                     const DenseTensor* bias, float epsilon, int groups,
                     const std::string& data_format, DenseTensor* y, DenseTensor* mean,
                     DenseTensor* variance) {
  using C = compute_t<T>;
  const Images images(x.dims(), channel_axis(x.ndim(), data_format), groups);
  C* means = mean->mutable_data<C>();
  C* variances = variance->mutable_data<C>();
  normalise<T>(images, x, scale, bias, epsilon, y, [=](int64_t n, int64_t g, double m, double v) {
    means[n * groups + g] = static_cast<C>(m);
    variances[n * groups + g] = static_cast<C>(v);
  });
}

template <typename T, typename Context>
void GroupNormGradKernel(const Context&, const DenseTensor& x, const DenseTensor* scale,
                         const DenseTensor& mean, const DenseTensor& variance,
                         const DenseTensor& y_grad, float epsilon, int groups,
                         const std::string& data_format, DenseTensor* x_grad,
                         DenseTensor* scale_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const Images images(x.dims(), channel_axis(x.ndim(), data_format), groups);
  const C* means = mean.data<C>();
  const C* variances = variance.data<C>();
  gradients<T>(
      images, x, scale, y_grad, [=](int64_t n, int64_t g) { return means[n * groups + g]; },
      [=](int64_t n, int64_t g) {
        return 1 / std::sqrt(static_cast<double>(variances[n * groups + g]) + epsilon);
      },
      x_grad, scale_grad, bias_grad);
}

/// saved_variance is 1 / sqrt(variance + epsilon); both saved ones are [images, channels].
/// Ulyanov, Vedaldi, Lempitsky: Instance Normalization, 2016.
template <typename T, typename Context>
void InstanceNormKernel(const Context&, const DenseTensor& x, const DenseTensor* scale,
                        const DenseTensor* bias, float epsilon, DenseTensor* y,
                        DenseTensor* saved_mean, DenseTensor* saved_variance) {
  using C = compute_t<T>;
  const int64_t channels = x.dims()[1];
  C* means = saved_mean->mutable_data<C>();
  C* inverses = saved_variance->mutable_data<C>();
  normalise<T>({x.dims(), 1, channels}, x, scale, bias, epsilon, y,
               [=](int64_t n, int64_t g, double m, double v) {
                 means[n * channels + g] = static_cast<C>(m);
                 inverses[n * channels + g] = static_cast<C>(1 / std::sqrt(v + epsilon));
               });
}

template <typename T, typename Context>
void InstanceNormGradKernel(const Context&, const DenseTensor& x, const DenseTensor* scale,
                            const DenseTensor& saved_mean, const DenseTensor& saved_variance,
                            const DenseTensor& y_grad, DenseTensor* x_grad, DenseTensor* scale_grad,
                            DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const int64_t channels = x.dims()[1];
  const C* means = saved_mean.data<C>();
  const C* inverses = saved_variance.data<C>();
  gradients<T>(
      {x.dims(), 1, channels}, x, scale, y_grad,
      [=](int64_t n, int64_t g) { return means[n * channels + g]; },
      [=](int64_t n, int64_t g) { return static_cast<double>(inverses[n * channels + g]); }, x_grad,
      scale_grad, bias_grad);
}

PHI_REGISTER_KERNEL(group_norm, CPU, GroupNormKernel, Floats);
PHI_REGISTER_KERNEL(group_norm_grad, CPU, GroupNormGradKernel, Floats);
PHI_REGISTER_KERNEL(instance_norm, CPU, InstanceNormKernel, Floats);
PHI_REGISTER_KERNEL(instance_norm_grad, CPU, InstanceNormGradKernel, Floats);

}  // namespace phi
