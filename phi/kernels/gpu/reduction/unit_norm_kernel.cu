// norm (scales lines to norm 1) and renorm (limits the norm of slices), with their gradients, on
// GPUs.
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/norms.h"
#include "phi/kernels/functors/norm_grad.h"
#include "phi/kernels/gpu/lines.h"

namespace phi {
namespace {

using gpu::AxisLines;
using gpu::element;
using gpu::number;
using gpu::SliceLines;
using gpu::SumPair;

/// The slices along `axis`.
SliceLines slices(const Dims& dims, int axis) {
  const int at = normalise_axis(axis, dims.ndim(), dims);
  return {dims.numel(0, at), dims[at], dims.numel(at + 1, dims.ndim())};
}

/// A null `norm` is not computed.
template <typename T>
struct NormLine {
  AxisLines lines;
  const T* x;
  double epsilon;
  T* out;
  T* norm;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const int64_t first = lines.start(line);
    const auto value = [&](int64_t k) { return number(x[first + lines.at(k)]); };
    const double sum =
        team.template wide_sum<double>(lines.n, [&](int64_t k) { return value(k) * value(k); });
    const double length = std::sqrt(epsilon + sum);
    team.each(lines.n,
              [&](int64_t k) { out[first + lines.at(k)] = element<T>(value(k) / length); });
    if (norm && team.index() == 0) norm[line] = element<T>(length);
  }
};

template <typename T>
struct NormGradLine {
  AxisLines lines;
  const T* x;
  const T* out_grad;
  double epsilon;
  T* x_grad;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const int64_t first = lines.start(line);
    const auto value = [&](int64_t k) { return number(x[first + lines.at(k)]); };
    const auto g = [&](int64_t k) { return number(out_grad[first + lines.at(k)]); };
    const auto sums = team.template wide_sum<gpu::SumPair<double>>(lines.n, [&](int64_t k) {
      return SumPair<double>{value(k) * value(k), value(k) * g(k)};
    });
    const double squares = epsilon + sums.a;
    const double length = std::sqrt(squares);
    const double slope = sums.b / squares;
    team.each(lines.n, [&](int64_t k) {
      x_grad[first + lines.at(k)] = element<T>((g(k) - value(k) * slope) / length);
    });
  }
};

/// The p-norm of a line of x.
template <typename T>
struct LineNorm {
  SliceLines lines;
  const T* x;
  double p;

  __device__ double value(int64_t first, int64_t k) const { return number(x[first + lines.at(k)]); }
  template <typename Team>
  __device__ double operator()(const Team& team, int64_t first) const {
    if (std::isinf(p)) return largest(team, first);
    const double sum = team.template wide_sum<double>(lines.n, [&](int64_t k) {
      const double number = value(first, k);
      return p == 2 ? number * number : std::pow(std::fabs(number), p);
    });
    return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
  }
  template <typename Team>
  __device__ double largest(const Team& team, int64_t first) const {
    using R = LargestMagnitudeReducer<double>;
    double most = R::kIdentity;
    for (int64_t k = team.index(); k < lines.n; k += Team::kSize)
      most = R::join(most, R::lift(value(first, k)));
    return team.template join<R>(most);
  }
  /// The derivative of the norm with respect to an element.
  __device__ double slope(double number, double norm) const {
    if (std::isinf(p)) return ExtremeMagnitudeGrad<double>()(number, norm, 1);
    return PowerNormGrad<double>{p}(number, norm, 1);
  }
};

template <typename T>
struct RenormLine {
  LineNorm<T> norm_of;
  double max_norm;
  T* out;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const SliceLines& lines = norm_of.lines;
    const int64_t first = lines.start(line);
    const double norm = norm_of(team, first);
    const double factor = norm > max_norm ? max_norm / norm : 1.0;
    team.each(lines.n, [&](int64_t k) {
      out[first + lines.at(k)] = element<T>(norm_of.value(first, k) * factor);
    });
  }
};

template <typename T>
struct RenormGradLine {
  LineNorm<T> norm_of;
  const T* out_grad;
  double max_norm;
  T* x_grad;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const SliceLines& lines = norm_of.lines;
    const int64_t first = lines.start(line);
    const auto g = [&](int64_t k) { return number(out_grad[first + lines.at(k)]); };
    const double norm = norm_of(team, first);
    const double product = team.template wide_sum<double>(
        lines.n, [&](int64_t k) { return norm_of.value(first, k) * g(k); });
    const bool is_scaled = norm > max_norm;
    const double factor = is_scaled ? max_norm / norm : 1.0;
    const double by_norm = product * factor / norm;
    team.each(lines.n, [&](int64_t k) {
      const double rest = is_scaled ? by_norm * norm_of.slope(norm_of.value(first, k), norm) : 0.0;
      x_grad[first + lines.at(k)] = element<T>(g(k) * factor - rest);
    });
  }
};

}  // namespace

/// out = x / norm, where norm = sqrt(sum of squares along `axis` + epsilon). `norm` is not written
/// if `is_test`.
template <typename T, typename Context>
void NormKernel(const Context& ctx, const DenseTensor& x, int axis, float epsilon, bool is_test,
                DenseTensor* out, DenseTensor* norm) {
  const AxisLines lines(x.dims(), axis);
  for_each_line(ctx, lines,
                NormLine<T>{lines, x.data<T>(), epsilon, out->mutable_data<T>(),
                            is_test ? nullptr : norm->mutable_data<T>()});
}

/// x_grad = (out_grad - out * sum(out * out_grad)) / norm.
template <typename T, typename Context>
void NormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad, int axis,
                    float epsilon, DenseTensor* x_grad) {
  if (x.numel() == 0) return;
  const AxisLines lines(x.dims(), axis);
  for_each_line(
      ctx, lines,
      NormGradLine<T>{lines, x.data<T>(), out_grad.data<T>(), epsilon, x_grad->mutable_data<T>()});
}

/// Scales each slice along `axis` whose p-norm exceeds `max_norm` down to that norm.
template <typename T, typename Context>
void RenormKernel(const Context& ctx, const DenseTensor& x, float p, int axis, float max_norm,
                  DenseTensor* out) {
  if (x.numel() == 0) return;
  const SliceLines lines = slices(x.dims(), axis);
  for_each_line(ctx, lines,
                RenormLine<T>{{lines, x.data<T>(), p}, max_norm, out->mutable_data<T>()});
}

template <typename T, typename Context>
void RenormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                      float p, int axis, float max_norm, DenseTensor* x_grad) {
  if (x.numel() == 0) return;
  const SliceLines lines = slices(x.dims(), axis);
  for_each_line(
      ctx, lines,
      RenormGradLine<T>{
          {lines, x.data<T>(), p}, out_grad.data<T>(), max_norm, x_grad->mutable_data<T>()});
}

PHI_REGISTER_KERNEL(norm, GPU, NormKernel, Floats);
PHI_REGISTER_KERNEL(norm_grad, GPU, NormGradKernel, Floats);
PHI_REGISTER_KERNEL(renorm, GPU, RenormKernel, Floats);
PHI_REGISTER_KERNEL(renorm_grad, GPU, RenormGradKernel, Floats);

}  // namespace phi
