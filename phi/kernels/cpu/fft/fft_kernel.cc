// Fourier transforms along given tensor dims on the CPU. Complex transforms run along one dim after
// the other; real-to-complex and complex-to-real ones run along the last given dim. A gradient is
// the transform in the other direction, with the same scale.
#include <cmath>
#include <string>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/fft.h"
#include "phi/kernels/cpu/fft/line_transform.h"

namespace phi {
namespace {

template <typename C>
using part_t = typename C::value_type;

/// Returns the factor of the results: 1, 1 / n or 1 / sqrt(n), where n is the number of elements of
/// `dims` along `axes`.
double fft_scale(const std::string& normalization, bool forward, const Dims& dims,
                 const std::vector<int64_t>& axes) {
  if (normalization == (forward ? "backward" : "forward")) return 1;
  double n = 1;
  for (int64_t axis : axes) n *= static_cast<double>(dims[static_cast<int>(axis)]);
  return normalization == "ortho" ? 1 / std::sqrt(n) : 1 / n;
}

/// Returns the lines along `axis` of two arrays whose other extents are equal.
LineGrid lines_along(const Dims& from, const Dims& to, int64_t axis) {
  const int d = static_cast<int>(axis);
  const int64_t inner = from.numel(d + 1, from.ndim());
  return {from.numel(0, d), inner, {from[d] * inner, 1, inner}, {to[d] * inner, 1, inner}};
}

/// Transforms along `axes` without the last `skipped` ones. The last transform multiplies by
/// `scale`. out may be x.
template <typename C>
void transform_all(const C* x, const Dims& dims, const std::vector<int64_t>& axes, size_t skipped,
                   bool forward, double scale, C* out) {
  if (axes.size() <= skipped && x != out) std::copy_n(x, dims.numel(), out);
  if (dims.numel() == 0) return;
  for (size_t a = 0; a + skipped < axes.size(); ++a) {
    LineTransform<part_t<C>> transform(dims[static_cast<int>(axes[a])], forward,
                                       LineKind::kComplex);
    const auto factor = static_cast<part_t<C>>(a + skipped + 1 == axes.size() ? scale : 1);
    transform.of_complex(lines_along(dims, dims, axes[a]), factor, a == 0 ? x : out, out);
  }
}

/// Sets out to the first elements of the transforms of real lines. If `doubled`, elements between
/// the first and the middle one count twice, for their conjugates as well.
template <typename C>
void real_to_complex(const DenseTensor& x, int64_t axis, bool forward, double scale, bool doubled,
                     DenseTensor* out) {
  using R = part_t<C>;
  const LineGrid grid = lines_along(x.dims(), out->dims(), axis);
  const int64_t n = x.dims()[static_cast<int>(axis)];
  const int64_t extent = out->dims()[static_cast<int>(axis)];
  const int64_t kept = doubled ? std::min(extent, n / 2 + 1) : extent;
  C* target = out->mutable_data<C>();
  if (kept < extent) std::fill_n(target, out->numel(), C(0));
  if (x.numel() == 0) return;
  const R factor = static_cast<R>(scale);
  LineTransform<R> transform(n, forward, LineKind::kReal);
  transform.of_real(grid, nullptr, {kept, factor, doubled ? 2 * factor : factor}, x.data<R>(),
                    target);
}

/// Sets out to the real part of the transforms of lines whose missing elements are zeros or, if
/// `mirrored`, conjugates.
template <typename C>
void complex_to_real(const C* x, const Dims& x_dims, int64_t axis, bool forward, double scale,
                     bool mirrored, DenseTensor* out) {
  using R = part_t<C>;
  if (out->numel() == 0) return;
  const int64_t n = out->dims()[static_cast<int>(axis)];
  const int64_t extent = x_dims[static_cast<int>(axis)];
  const int64_t given = std::min(extent, mirrored ? n / 2 + 1 : n);
  const R factor = static_cast<R>(scale);
  LineTransform<R> transform(n, forward, LineKind::kReal);
  transform.to_real(lines_along(x_dims, out->dims(), axis),
                    {given, factor, mirrored ? factor : factor / 2}, x, out->mutable_data<R>());
}

template <typename C>
void complex_transform(const DenseTensor& x, const std::vector<int64_t>& axes, bool forward,
                       double scale, DenseTensor* out) {
  transform_all(x.data<C>(), x.dims(), axes, 0, forward, scale, out->mutable_data<C>());
}

/// Transforms x along all axes but the last and passes the result, or x itself, to `f`.
template <typename C, typename F>
void with_others_transformed(const DenseTensor& x, const std::vector<int64_t>& axes, bool forward,
                             F f) {
  if (axes.size() == 1) return f(x.data<C>());
  std::vector<C> result(static_cast<size_t>(x.numel()));
  transform_all(x.data<C>(), x.dims(), axes, 1, forward, 1, result.data());
  f(static_cast<const C*>(result.data()));
}

}  // namespace

template <typename T, typename Context>
void FftC2cKernel(const Context&, const DenseTensor& x, const std::vector<int64_t>& axes,
                  const std::string& normalization, bool forward, DenseTensor* out) {
  complex_transform<T>(x, axes, forward, fft_scale(normalization, forward, x.dims(), axes), out);
}

template <typename T, typename Context>
void FftC2cGradKernel(const Context&, const DenseTensor& out_grad, const std::vector<int64_t>& axes,
                      const std::string& normalization, bool forward, DenseTensor* x_grad) {
  complex_transform<T>(out_grad, axes, !forward,
                       fft_scale(normalization, forward, out_grad.dims(), axes), x_grad);
}

template <typename T, typename Context>
void FftR2cKernel(const Context&, const DenseTensor& x, const std::vector<int64_t>& axes,
                  const std::string& normalization, bool forward, DenseTensor* out) {
  using C = Complex<T>;
  const double scale = fft_scale(normalization, forward, x.dims(), axes);
  real_to_complex<C>(x, axes.back(), forward, scale, false, out);
  transform_all(out->data<C>(), out->dims(), axes, 1, forward, 1, out->mutable_data<C>());
}

template <typename T, typename Context>
void FftR2cGradKernel(const Context&, const DenseTensor& out_grad, const std::vector<int64_t>& axes,
                      const std::string& normalization, bool forward, DenseTensor* x_grad) {
  const double scale = fft_scale(normalization, forward, x_grad->dims(), axes);
  with_others_transformed<Complex<T>>(out_grad, axes, !forward, [&](const Complex<T>* g) {
    complex_to_real(g, out_grad.dims(), axes.back(), !forward, scale, false, x_grad);
  });
}

/// Reads only the first half of x's last dim. The imaginary parts of its ends are ignored.
template <typename T, typename Context>
void FftC2rKernel(const Context&, const DenseTensor& x, const std::vector<int64_t>& axes,
                  const std::string& normalization, bool forward, DenseTensor* out) {
  const double scale = fft_scale(normalization, forward, out->dims(), axes);
  with_others_transformed<T>(x, axes, forward, [&](const T* half) {
    complex_to_real(half, x.dims(), axes.back(), forward, scale, true, out);
  });
}

template <typename T, typename Context>
void FftC2rGradKernel(const Context&, const DenseTensor& out_grad, const std::vector<int64_t>& axes,
                      const std::string& normalization, bool forward, DenseTensor* x_grad) {
  const double scale = fft_scale(normalization, forward, out_grad.dims(), axes);
  real_to_complex<T>(out_grad, axes.back(), !forward, scale, true, x_grad);
  transform_all(x_grad->data<T>(), x_grad->dims(), axes, 1, !forward, 1, x_grad->mutable_data<T>());
}

using RealFftTypes = TypeList<float, double>;
PHI_REGISTER_KERNEL(fft_c2c, CPU, FftC2cKernel, Complexes);
PHI_REGISTER_KERNEL(fft_c2c_grad, CPU, FftC2cGradKernel, Complexes);
PHI_REGISTER_KERNEL(fft_r2c, CPU, FftR2cKernel, RealFftTypes);
PHI_REGISTER_KERNEL(fft_r2c_grad, CPU, FftR2cGradKernel, RealFftTypes);
PHI_REGISTER_KERNEL(fft_c2r, CPU, FftC2rKernel, Complexes);
PHI_REGISTER_KERNEL(fft_c2r_grad, CPU, FftC2rGradKernel, Complexes);

}  // namespace phi
