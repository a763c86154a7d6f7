// Norms of images that are too large for one range of channels, or rows longer than a block
// (cpu/normalisation/channels.h): with the channels first they are what they are with them last,
// where all channels are one range.
#include <algorithm>
#include <string>
#include <vector>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/image_norm.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

constexpr int kGroups = 2;
const KernelContext kHere;

/// Images [n, channels, height, width] as they lie with the channels last, and back.
struct Images {
  int64_t n, channels, height, width;
  int64_t pixels() const { return height * width; }
  Dims first() const { return {n, channels, height, width}; }
  Dims last() const { return {n, height, width, channels}; }

  Values to_last(const Values& x) const {
    Values y(x.size());
    for_each([&](size_t first, size_t last) { y[last] = x[first]; });
    return y;
  }
  Values to_first(const Values& x) const {
    Values y(x.size());
    for_each([&](size_t first, size_t last) { y[first] = x[last]; });
    return y;
  }

 private:
  template <typename F>
  void for_each(F f) const {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t p = 0; p < pixels(); ++p) {
          f(static_cast<size_t>((i * channels + c) * pixels() + p),
            static_cast<size_t>((i * pixels() + p) * channels + c));
        }
      }
    }
  }
};

/// All that a norm and its gradient write: images first.
struct Results {
  std::vector<Values> images;
  std::vector<Values> statistics;
};

/// What `norm` makes of images and of gradients of its output, in the format given.
template <typename Norm>
Results results_of(const Images& images, const std::string& format, const Norm& norm) {
  const bool is_first = format == "NCHW";
  const int64_t count = images.first().numel();
  const auto given = [&](uint32_t seed) {
    const Values values = random_values(count, seed);
    return is_first ? values : images.to_last(values);
  };
  Results results = norm(is_first ? images.first() : images.last(), given(1), given(2), format);
  for (Values& values : results.images) {
    if (!is_first) values = images.to_first(values);
  }
  return results;
}

template <typename T>
Results batch_norm(const Dims& dims, const Values& x, const Values& g, const std::string& format) {
  const int64_t c = format == "NCHW" ? dims[1] : dims[3];
  const DenseTensor images = tensor<T>(x, dims), grad = tensor<T>(g, dims);
  const DenseTensor mean = tensor<float>(random_values(c, 3), {c});
  const DenseTensor variance = tensor<float>(random_values(c, 4, 1, 2), {c});
  const DenseTensor scale = tensor<float>(random_values(c, 5), {c});
  const DenseTensor bias = tensor<float>(random_values(c, 6), {c});
  DenseTensor out = blank<T>(dims), x_grad = blank<T>(dims);
  std::vector<DenseTensor> of_channels(6);
  for (DenseTensor& of_channel : of_channels) of_channel = blank<compute_t<T>>({c});
  DenseTensor* s = of_channels.data();
  registered<kernels::batch_norm, T>(kHere, images, mean, variance, &scale, &bias, false, 0.9f,
                                     1e-5f, format, false, false, &out, s, s + 1, s + 2, s + 3);
  registered<kernels::batch_norm_grad, T>(kHere, images, &scale, s[2], s[3], grad, format, false,
                                          false, false, &x_grad, s + 4, s + 5);
  Results results{{to_doubles(out), to_doubles(x_grad)}, {}};
  for (const DenseTensor& of_channel : of_channels) {
    results.statistics.push_back(to_doubles(of_channel));
  }
  return results;
}

template <typename T>
Results group_norm(const Dims& dims, const Values& x, const Values& g, const std::string& format) {
  const int64_t c = format == "NCHW" ? dims[1] : dims[3];
  const DenseTensor images = tensor<T>(x, dims), grad = tensor<T>(g, dims);
  const DenseTensor scale = tensor<float>(random_values(c, 5), {c});
  const DenseTensor bias = tensor<float>(random_values(c, 6), {c});
  DenseTensor out = blank<T>(dims), x_grad = blank<T>(dims);
  DenseTensor mean = blank<compute_t<T>>({dims[0], kGroups});
  DenseTensor variance = blank<compute_t<T>>({dims[0], kGroups});
  DenseTensor scale_grad = blank<compute_t<T>>({c}), bias_grad = blank<compute_t<T>>({c});
  registered<kernels::group_norm, T>(kHere, images, &scale, &bias, 1e-5f, kGroups, format, &out,
                                     &mean, &variance);
  registered<kernels::group_norm_grad, T>(kHere, images, &scale, mean, variance, grad, 1e-5f,
                                          kGroups, format, &x_grad, &scale_grad, &bias_grad);
  return {{to_doubles(out), to_doubles(x_grad)},
          {to_doubles(mean), to_doubles(variance), to_doubles(scale_grad), to_doubles(bias_grad)}};
}

template <typename T>
Results affine_channel(const Dims& dims, const Values& x, const Values& g,
                       const std::string& format) {
  const int64_t c = format == "NCHW" ? dims[1] : dims[3];
  const DenseTensor images = tensor<T>(x, dims), grad = tensor<T>(g, dims);
  const DenseTensor scale = tensor<T>(random_values(c, 5), {c});
  const DenseTensor bias = tensor<T>(random_values(c, 6), {c});
  DenseTensor out = blank<T>(dims), x_grad = blank<T>(dims);
  DenseTensor scale_grad = blank<T>({c}), bias_grad = blank<T>({c});
  registered<kernels::affine_channel, T>(kHere, images, scale, bias, format, &out);
  registered<kernels::affine_channel_grad, T>(kHere, images, scale, grad, format, &x_grad,
                                              &scale_grad, &bias_grad);
  return {{to_doubles(out), to_doubles(x_grad)}, {to_doubles(scale_grad), to_doubles(bias_grad)}};
}

template <typename Norm>
void expect_alike(const Norm& norm, double tolerance) {
  for (const Images& images : {Images{2, 6, 200, 200}, Images{2, 1030, 3, 3}}) {
    const Results first = results_of(images, "NCHW", norm);
    const Results last = results_of(images, "NHWC", norm);
    const std::string what = std::to_string(images.channels) + " channels, result ";
    for (size_t i = 0; i < first.images.size(); ++i) {
      expect_close(first.images[i], last.images[i], tolerance, what + std::to_string(i));
    }
    for (size_t i = 0; i < first.statistics.size(); ++i) {
      expect_close(first.statistics[i], last.statistics[i], tolerance,
                   what + "of channels " + std::to_string(i));
    }
  }
}

TEST(ChannelRanges, BatchNorm) {
  expect_alike(batch_norm<double>, 1e-10);
  expect_alike(batch_norm<bfloat16>, 0.02);
}
TEST(ChannelRanges, GroupNorm) {
  expect_alike(group_norm<double>, 1e-10);
  expect_alike(group_norm<bfloat16>, 0.02);
}
TEST(ChannelRanges, AffineChannel) {
  expect_alike(affine_channel<double>, 1e-10);
  expect_alike(affine_channel<bfloat16>, 0.02);
}

}  // namespace
}  // namespace phi::testing
