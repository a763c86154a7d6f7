// prelu and rrelu on the CPU: negative elements are multiplied by a slope, which is learned or
// drawn at random.
//
// K. He, X. Zhang, S. Ren, J. Sun, "Delving Deep into Rectifiers", 2015. B. Xu, N. Wang, T. Chen,
// M. Li, "Empirical Evaluation of Rectified Activations in Convolutional Network", 2015.
#include <algorithm>
#include <string>
#include <vector>

#include "phi/generated/kernels/activation.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/random_fill.h"

namespace phi {
namespace {

/// x as [outer, weights, inner], with one weight per index of the middle dim.
struct WeightedBlocks {
  int64_t outer = 1;
  int64_t weights = 1;
  int64_t inner = 1;
};

WeightedBlocks weighted_blocks(const Dims& dims, const std::string& data_format,
                               const std::string& mode) {
  const int last = dims.ndim();
  if (mode == "all") return {1, 1, dims.numel()};
  if (mode == "element") return {dims[0], dims.numel(1, last), 1};
  if (data_format == "NHWC") return {dims.numel(0, last - 1), dims.back(), 1};
  return {dims[0], dims[1], dims.numel(2, last)};
}

/// Calls body(first element, weight) for each run of `inner` elements that share a weight.
template <typename Body>
void for_each_run(const WeightedBlocks& blocks, Body body) {
  int64_t at = 0;
  for (int64_t o = 0; o < blocks.outer; ++o) {
    for (int64_t w = 0; w < blocks.weights; ++w, at += blocks.inner) body(at, w);
  }
}

template <typename T, typename C>
std::vector<C> weights_of(const DenseTensor& alpha) {
  std::vector<C> weights(static_cast<size_t>(alpha.numel()));
  convert(alpha.data<T>(), weights.data(), alpha.numel());
  return weights;
}

}  // namespace

/// out = x if x is not negative, else alpha x.
template <typename T, typename Context>
void PReluKernel(const Context&, const DenseTensor& x, const DenseTensor& alpha,
                 const std::string& data_format, const std::string& mode, DenseTensor* out) {
  using C = compute_t<T>;
  if (out->numel() == 0) return;
  const WeightedBlocks blocks = weighted_blocks(x.dims(), data_format, mode);
  const std::vector<C> weights = weights_of<T, C>(alpha);
  const T* xs = x.data<T>();
  T* to = out->mutable_data<T>();
  for_each_run(blocks, [&](int64_t at, int64_t w) {
    const C slope = weights[static_cast<size_t>(w)];
    for (int64_t i = at; i < at + blocks.inner; ++i) {
      const C value = convert_value<C>(xs[i]);
      to[i] = convert_value<T>(value > C(0) ? value : slope * value);
    }
  });
}

/// A null gradient is not computed.
template <typename T, typename Context>
void PReluGradKernel(const Context&, const DenseTensor& x, const DenseTensor& alpha,
                     const DenseTensor& out_grad, const std::string& data_format,
                     const std::string& mode, DenseTensor* x_grad, DenseTensor* alpha_grad) {
  using C = compute_t<T>;
  const std::vector<C> weights = weights_of<T, C>(alpha);
  std::vector<double> sums(weights.size());
  const WeightedBlocks blocks =
      x.numel() > 0 ? weighted_blocks(x.dims(), data_format, mode) : WeightedBlocks{0, 0, 0};
  const T* xs = x.data<T>();
  const T* gs = out_grad.data<T>();
  T* to = x_grad ? x_grad->mutable_data<T>() : nullptr;
  for_each_run(blocks, [&](int64_t at, int64_t w) {
    const C slope = weights[static_cast<size_t>(w)];
    const auto grad = [=](int64_t i) {
      const C g = convert_value<C>(gs[at + i]);
      return convert_value<T>(convert_value<C>(xs[at + i]) > C(0) ? g : slope * g);
    };
    const auto of_slope = [=](int64_t i) {
      const C value = convert_value<C>(xs[at + i]);
      return static_cast<double>(value > C(0) ? C(0) : convert_value<C>(gs[at + i]) * value);
    };
    sums[static_cast<size_t>(w)] += run_best_isa<C>([=, n = blocks.inner] {
      for (int64_t i = 0; to && i < n; ++i) to[at + i] = grad(i);
      return row_sum<double>(n, of_slope);
    });
  });
  if (alpha_grad) convert(sums.data(), alpha_grad->mutable_data<T>(), alpha_grad->numel());
}

/// out = x if x is not negative, else noise x. The slope `noise` is drawn per element between
/// `lower` and `upper` from `seed`; in inference it is their mean. It is 1 if x is not negative.
template <typename T, typename Context>
void RReluKernel(const Context& ctx, const DenseTensor& x, float lower, float upper, bool is_test,
                 int seed, DenseTensor* out, DenseTensor* noise) {
  using C = compute_t<T>;
  T* slopes = noise->mutable_data<T>();
  if (is_test || lower == upper) {
    std::fill_n(slopes, noise->numel(), convert_value<T>((C(lower) + C(upper)) / C(2)));
  } else {
    fill_uniform(ctx.output_box(1, noise->dims()), lower, upper,
                 static_cast<uint64_t>(static_cast<int64_t>(seed)), noise);
  }
  const T* xs = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0; i < out->numel(); ++i) {
    const C value = convert_value<C>(xs[i]);
    if (!(value < C(0))) slopes[i] = T(1);
    to[i] = convert_value<T>(value * convert_value<C>(slopes[i]));
  }
}

PHI_REGISTER_KERNEL(prelu, CPU, PReluKernel, Floats);
PHI_REGISTER_KERNEL(prelu_grad, CPU, PReluGradKernel, Floats);
PHI_REGISTER_KERNEL(rrelu, CPU, RReluKernel, Floats);

}  // namespace phi
