// Norms over some tensor dims on the CPU, operators that scale rows by their norm (`norm` to 1,
// `renorm` to a maximum), and their gradients. Norms of rows are kept in double. All are in one
// source because the loops of norms are most of it.
#include <cmath>
#include <limits>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/core/scratch_array.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/reduction/loop_with_reduced.h"
#include "phi/kernels/functors/norm_grad.h"
#include "phi/kernels/templates/converted.h"
#include "phi/kernels/templates/reduction/norms.h"

namespace phi {
namespace {

AxisSet one_axis(int axis, const Dims& dims) { return normalise_axes(IntArray({axis}), dims); }

AxisSet all_but(int axis, const Dims& dims) {
  AxisSet axes;
  for (int d = 0; d < dims.ndim(); ++d) {
    if (d != axis && d != axis + dims.ndim()) axes.add(d);
  }
  return axes;
}

/// Returns an array with one number for each index of `dims` without `axes`.
std::vector<double> one_per_row(const Dims& dims, AxisSet axes) {
  int64_t count = 1;
  for (int d = 0; d < dims.ndim(); ++d) count *= axes.has(d) ? 1 : dims[d];
  return std::vector<double>(static_cast<size_t>(count));
}

template <typename T>
std::vector<double> sums_of_squares(const CpuContext& ctx, const DenseTensor& x, AxisSet axes) {
  std::vector<double> sums = one_per_row(x.dims(), axes);
  reduce<SumOfSquaresReducer<T>>(ctx, x.data<T>(), x.dims(), axes, sums.data(),
                                 ConvertFunctor<double>());
  return sums;
}

/// Returns the sums of x * y over `axes`.
template <typename T>
std::vector<double> dot_products(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& y,
                                 AxisSet axes) {
  using C = compute_t<T>;
  std::vector<double> sums = one_per_row(x.dims(), axes);
  DenseTensor products = scratch_array({x.dims(), dtype_of<C>()}, ctx.place());
  binary_loop(x.data<T>(), y.data<T>(), products.mutable_data<C>(), x.numel(),
              [](C a, C b) { return a * b; });
  reduce<SumReducer<C>>(ctx, products.data<C>(), x.dims(), axes, sums.data(),
                        ConvertFunctor<double>());
  return sums;
}

/// Returns p-norms in double, because powers of floats may exceed the range of float.
template <typename T>
std::vector<double> p_norms(const CpuContext& ctx, const DenseTensor& x, AxisSet axes, float p) {
  std::vector<double> norms = one_per_row(x.dims(), axes);
  if (p == 1 || p == 2 || std::isinf(p)) {
    p_norm<T>(ctx, x, axes, p, norms.data());
  } else {
    p_norm<double>(ctx, converted<double, T>(ctx, x), axes, p, norms.data());
  }
  return norms;
}

/// Sets out = x times the factor of its row, in the compute type, or in double if a factor is out
/// of its range.
template <typename T>
void scale_norm_rows(const DenseTensor& x, AxisSet axes, const std::vector<double>& factors,
                     DenseTensor* out) {
  using C = compute_t<T>;
  const auto is_held = [](double factor) {
    return factor >= std::numeric_limits<C>::min() && factor <= std::numeric_limits<C>::max();
  };
  T* to = out->mutable_data<T>();
  const std::array from{x.data<T>()};
  if (std::ranges::all_of(factors, is_held)) {
    const std::vector<C> held(factors.begin(), factors.end());
    return loop_with_reduced<T>(x.dims(), axes, from, std::array{held.data()}, to,
                                [](C value, C factor) { return value * factor; });
  }
  loop_with_reduced<T>(x.dims(), axes, from, std::array{factors.data()}, to,
                       [](C value, double factor) { return static_cast<double>(value) * factor; });
}

/// RenormGradKernel's computation; `slope(x, norm)` is the derivative of the norm by an element.
template <typename T, typename Slope>
void renorm_grad(const DenseTensor& x, const DenseTensor& out_grad, AxisSet axes,
                 const std::vector<double>& norms, const std::vector<double>& products,
                 double max_norm, DenseTensor* x_grad, Slope slope) {
  const auto grad = [=](double value, double g, double norm, double product) {
    const double factor = max_norm / norm;
    const double scaled = g * factor - product * factor / norm * slope(value, norm, 1.0);
    return norm > max_norm ? scaled : g;
  };
  loop_with_reduced<T>(x.dims(), axes, std::array{x.data<T>(), out_grad.data<T>()},
                       std::array{norms.data(), products.data()}, x_grad->mutable_data<T>(), grad);
}

}  // namespace

/// out = x / norm, where norm = sqrt(sum of squares along `axis` + epsilon). norm is not written if
/// `is_test`.
template <typename T, typename Context>
void NormKernel(const Context& ctx, const DenseTensor& x, int axis, float epsilon, bool is_test,
                DenseTensor* out, DenseTensor* norm) {
  const AxisSet axes = one_axis(axis, x.dims());
  std::vector<double> lengths = sums_of_squares<T>(ctx, x, axes);
  for (double& length : lengths) length = std::sqrt(epsilon + length);
  if (!is_test)
    convert(lengths.data(), norm->mutable_data<T>(), static_cast<int64_t>(lengths.size()));
  for (double& length : lengths) length = 1.0 / length;
  scale_norm_rows<T>(x, axes, lengths, out);
}

/// x_grad = (out_grad - out * sum(out * out_grad)) / norm.
template <typename T, typename Context>
void NormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad, int axis,
                    float epsilon, DenseTensor* x_grad) {
  const AxisSet axes = one_axis(axis, x.dims());
  std::vector<double> by_length = sums_of_squares<T>(ctx, x, axes);
  std::vector<double> slopes = dot_products<T>(ctx, x, out_grad, axes);
  for (size_t r = 0; r < slopes.size(); ++r) {
    const double squares = epsilon + by_length[r];
    by_length[r] = 1.0 / std::sqrt(squares);
    slopes[r] *= by_length[r] / squares;
  }
  loop_with_reduced<T>(x.dims(), axes, std::array{x.data<T>(), out_grad.data<T>()},
                       std::array<const double*, 2>{by_length.data(), slopes.data()},
                       x_grad->mutable_data<T>(),
                       [](double value, double g, double factor, double slope) {
                         return g * factor - value * slope;
                       });
}

/// Scales each slice along `axis` whose p-norm exceeds `max_norm` down to that norm.
template <typename T, typename Context>
void RenormKernel(const Context& ctx, const DenseTensor& x, float p, int axis, float max_norm,
                  DenseTensor* out) {
  const AxisSet axes = all_but(axis, x.dims());
  std::vector<double> factors = p_norms<T>(ctx, x, axes, p);
  for (double& norm : factors) norm = norm > max_norm ? max_norm / norm : 1.0;
  scale_norm_rows<T>(x, axes, factors, out);
}

template <typename T, typename Context>
void RenormGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                      float p, int axis, float max_norm, DenseTensor* x_grad) {
  const AxisSet axes = all_but(axis, x.dims());
  const std::vector<double> norms = p_norms<T>(ctx, x, axes, p);
  const std::vector<double> products = dot_products<T>(ctx, x, out_grad, axes);
  const auto by = [&](auto slope) {
    renorm_grad<T>(x, out_grad, axes, norms, products, max_norm, x_grad, slope);
  };
  if (p == 2) return by(EuclideanNormGrad<double>());
  if (std::isinf(p)) return by(ExtremeMagnitudeGrad<double>());
  by(PowerNormGrad<double>{p});
}

PHI_REGISTER_KERNEL(norm, CPU, NormKernel, Floats);
PHI_REGISTER_KERNEL(norm_grad, CPU, NormGradKernel, Floats);
PHI_REGISTER_KERNEL(renorm, CPU, RenormKernel, Floats);
PHI_REGISTER_KERNEL(renorm_grad, CPU, RenormGradKernel, Floats);

}  // namespace phi
