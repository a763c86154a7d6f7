// group_norm and instance_norm with their gradients on the CPU: each image is normalised
// separately, over groups of its channels. An instance norm has one group per channel.
#include <cmath>
#include <numeric>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image_norm.h"
#include "phi/kernels/cpu/normalisation/channels.h"
#include "phi/kernels/cpu/normalisation/write_converted.h"

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
  int64_t per_group() const { return dims.channels / std::max<int64_t>(groups, 1); }
  /// Returns the number of elements of a group, at least 1.
  double elements() const {
    return static_cast<double>(std::max<int64_t>(dims.numel() / std::max<int64_t>(groups, 1), 1));
  }
  /// Returns ranges of whole groups.
  std::vector<ChannelRange> ranges(size_t element_bytes) const {
    return ranges_in_cache(dims, element_bytes, per_group());
  }
  /// Calls f(g, first, last) for each group in `range` and its channels [first, last).
  template <typename F>
  void for_each_group(const ChannelRange& range, const F& f) const {
    if (range.first == range.last) return;
    const int64_t channels = per_group();
    for (int64_t g = range.first / channels; g * channels < range.last; ++g) {
      f(g, g * channels, (g + 1) * channels);
    }
  }
  /// Calls f(c, g) for each channel in `range` and its group.
  template <typename F>
  void for_each(const ChannelRange& range, const F& f) const {
    for_each_group(range, [&](int64_t g, int64_t first, int64_t last) {
      for (int64_t c = first; c < last; ++c) f(c, g);
    });
  }
  /// Turns sums over the channels in `range` into averages over their groups.
  void average(const ChannelRange& range, const std::vector<double>& channels,
               std::vector<double>* groups) const {
    for_each_group(range, [&, count = elements()](int64_t g, int64_t first, int64_t last) {
      const auto begin = channels.begin();
      (*groups)[g] = std::accumulate(begin + first, begin + last, 0.0) / count;
    });
  }
};

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias, one image after the other.
template <typename T>
class Normaliser {
 public:
  using C = compute_t<T>;
  Normaliser(const Images& images, const DenseTensor* scale, const DenseTensor* bias, float epsilon)
      : images_(images),
        epsilon_(epsilon),
        scales_(scale),
        biases_(bias),
        sums_(images.dims.channels),
        means_(images.groups),
        variances_(images.groups),
        centre_(images.dims.channels),
        factor_(images.dims.channels),
        shift_(images.dims.channels) {}

  /// Calls kept(image, group, mean, variance) with the statistics.
  template <typename Keep>
  void run(const DenseTensor& x, DenseTensor* y, const Keep& kept) {
    const int64_t size = images_.dims.numel();
    const std::vector<ChannelRange> ranges = images_.ranges(sizeof(T));
    for (int64_t n = 0; n < images_.count; ++n) {
      for (const ChannelRange& range : ranges) {
        normalise(range, x.data<T>() + n * size, y->mutable_data<T>() + n * size);
      }
      for (int64_t g = 0; g < images_.groups; ++g) kept(n, g, means_[g], variances_[g]);
    }
  }

 private:
  void normalise(const ChannelRange& range, const T* x, T* y) {
    average(
        range, x, [](C v, C, int64_t) { return v; }, &means_);
    images_.for_each(range, [&](int64_t c, int64_t g) { centre_[c] = static_cast<C>(means_[g]); });
    const C* m = centre_.data();
    average(
        range, x, [m](C v, C, int64_t c) { return (v - m[c]) * (v - m[c]); }, &variances_);
    images_.for_each(range, [&](int64_t c, int64_t g) {
      const double inverse = 1 / std::sqrt(variances_[g] + epsilon_);
      factor_[c] = static_cast<C>(inverse * (scales_.data() ? scales_.data()[c] : C(1)));
      shift_[c] = biases_.data() ? biases_.data()[c] : C(0);
    });
    channel_map(images_.dims, range, x, x, y,
                [m, a = factor_.data(), b = shift_.data()](C v, C, int64_t c) {
                  return (v - m[c]) * a[c] + b[c];
                });
  }

  template <typename Term>
  void average(const ChannelRange& range, const T* x, const Term& term,
               std::vector<double>* groups) {
    std::fill(sums_.begin() + range.first, sums_.begin() + range.last, 0.0);
    channel_sums(images_.dims, range, x, x, ChannelSum{term, sums_.data()});
    images_.average(range, sums_, groups);
  }

  const Images& images_;
  double epsilon_;
  ComputeArray<C> scales_, biases_;
  std::vector<double> sums_, means_, variances_;
  std::vector<C> centre_, factor_, shift_;
};

/// With f = 1 / sqrt(variance + epsilon), h = (x - mean) * f, g = y_grad * scale and averages <.>
/// over a group: x_grad = f * (g - <g> - h * <g * h>). `mean(image, group)` and `inverse(image,
/// group)` return mean and f. Each gradient may be null.
template <typename T, typename Mean, typename Inverse>
class Gradients {
 public:
  using C = compute_t<T>;
  Gradients(const Images& images, const DenseTensor* scale, Mean mean, Inverse inverse)
      : images_(images),
        mean_(mean),
        inverse_(inverse),
        scales_(scale),
        of_g_(images.dims.channels),
        of_gh_(images.dims.channels),
        scale_sums_(images.dims.channels),
        bias_sums_(images.dims.channels),
        group_g_(images.groups),
        group_gh_(images.groups),
        centre_(images.dims.channels),
        factor_(images.dims.channels),
        average_(images.dims.channels),
        slope_(images.dims.channels) {}

  void run(const DenseTensor& x, const DenseTensor& y_grad, DenseTensor* x_grad,
           DenseTensor* scale_grad, DenseTensor* bias_grad) {
    const int64_t size = images_.dims.numel();
    const std::vector<ChannelRange> ranges = images_.ranges(sizeof(T));
    for (int64_t n = 0; n < images_.count; ++n) {
      const T* from = x.data<T>() + n * size;
      const T* dy = y_grad.data<T>() + n * size;
      for (const ChannelRange& range : ranges) {
        add_up(n, range, from, dy);
        if (x_grad) map(n, range, from, dy, x_grad->mutable_data<T>() + n * size);
      }
    }
    write_converted(scale_sums_, scale_grad);
    write_converted(bias_sums_, bias_grad);
  }

 private:
  double weight(int64_t c) const {
    return scales_.data() ? static_cast<double>(scales_.data()[c]) : 1.0;
  }

  /// Computes the sums of image n.
  void add_up(int64_t n, const ChannelRange& range, const T* x, const T* dy) {
    images_.for_each(range, [&](int64_t c, int64_t g) {
      centre_[c] = static_cast<C>(mean_(n, g));
      of_g_[c] = of_gh_[c] = 0;
    });
    const auto g_term = [](C, C g, int64_t) { return g; };
    const auto gh_term = [m = centre_.data()](C v, C g, int64_t c) { return (v - m[c]) * g; };
    channel_sums(images_.dims, range, x, dy, ChannelSum{g_term, of_g_.data()},
                 ChannelSum{gh_term, of_gh_.data()});
    images_.for_each(range, [&](int64_t c, int64_t g) {
      of_gh_[c] *= inverse_(n, g);
      scale_sums_[c] += of_gh_[c];
      bias_sums_[c] += of_g_[c];
      of_g_[c] *= weight(c);
      of_gh_[c] *= weight(c);
    });
  }

  void map(int64_t n, const ChannelRange& range, const T* x, const T* dy, T* dx) {
    images_.average(range, of_g_, &group_g_);
    images_.average(range, of_gh_, &group_gh_);
    images_.for_each(range, [&](int64_t c, int64_t g) {
      const double f = inverse_(n, g);
      factor_[c] = static_cast<C>(f * weight(c));
      average_[c] = static_cast<C>(f * group_g_[g]);
      slope_[c] = static_cast<C>(f * f * group_gh_[g]);
    });
    channel_map(images_.dims, range, x, dy, dx,
                [m = centre_.data(), f = factor_.data(), a = average_.data(), s = slope_.data()](
                    C v, C g, int64_t c) { return f[c] * g - a[c] - (v - m[c]) * s[c]; });
  }

  const Images& images_;
  Mean mean_;
  Inverse inverse_;
  ComputeArray<C> scales_;
  std::vector<double> of_g_, of_gh_, scale_sums_, bias_sums_, group_g_, group_gh_;
  std::vector<C> centre_;
  std::vector<C> factor_;   // of y_grad
  std::vector<C> average_;  // of g over the group, times f
  std::vector<C> slope_;
};

template <typename T, typename Mean, typename Inverse>
Gradients<T, Mean, Inverse> gradients(const Images& images, const DenseTensor* scale, Mean mean,
                                      Inverse inverse) {
  return {images, scale, mean, inverse};
}

}  // namespace

/// mean and variance are [images, groups]. Wu, He: Group Normalization, 2018.
template <typename T, typename Context>
void GroupNormKernel(const Context&, const DenseTensor& x, const DenseTensor* scale,
                     const DenseTensor* bias, float epsilon, int groups,
                     const std::string& data_format, DenseTensor* y, DenseTensor* mean,
                     DenseTensor* variance) {
  using C = compute_t<T>;
  const Images images(x.dims(), channel_axis(x.ndim(), data_format), groups);
  C* means = mean->mutable_data<C>();
  C* variances = variance->mutable_data<C>();
  Normaliser<T>(images, scale, bias, epsilon)
      .run(x, y, [=](int64_t n, int64_t g, double m, double v) {
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
      images, scale, [=](int64_t n, int64_t g) { return means[n * groups + g]; },
      [=](int64_t n, int64_t g) {
        return 1 / std::sqrt(static_cast<double>(variances[n * groups + g]) + epsilon);
      })
      .run(x, y_grad, x_grad, scale_grad, bias_grad);
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
  const Images images(x.dims(), 1, channels);
  Normaliser<T>(images, scale, bias, epsilon)
      .run(x, y, [=](int64_t n, int64_t g, double m, double v) {
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
  const Images images(x.dims(), 1, channels);
  gradients<T>(
      images, scale, [=](int64_t n, int64_t g) { return means[n * channels + g]; },
      [=](int64_t n, int64_t g) { return static_cast<double>(inverses[n * channels + g]); })
      .run(x, y_grad, x_grad, scale_grad, bias_grad);
}

PHI_REGISTER_KERNEL(group_norm, CPU, GroupNormKernel, Floats);
PHI_REGISTER_KERNEL(group_norm_grad, CPU, GroupNormGradKernel, Floats);
PHI_REGISTER_KERNEL(instance_norm, CPU, InstanceNormKernel, Floats);
PHI_REGISTER_KERNEL(instance_norm_grad, CPU, InstanceNormGradKernel, Floats);

}  // namespace phi
