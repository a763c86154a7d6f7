// Fourier transforms along some tensor dims: complex ones one dim after the other, between them and
// real arrays along the last dim that is named. A gradient is the transform in the other direction,
// with the same scale.
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

/// What results are multiplied by: 1, 1 / n or 1 / sqrt(n) of the n elements of `dims` along axes.
double scale_of(const std::string& normalization, bool forward, const Dims& dims,
                const std::vector<int64_t>& axes) {
  if (normalization == (forward ? "backward" : "forward")) return 1;
  double n = 1;
  for (int64_t axis : axes) n *= static_cast<double>(dims[static_cast<int>(axis)]);
  return normalization == "ortho" ? 1 / std::sqrt(n) : 1 / n;
}

/// The lines of an array along one tensor dim: elements `step` apart.
struct Lines {
  Lines(const Dims& dims, int64_t axis)
      : outer(dims.numel(0, static_cast<int>(axis))),
        extent(dims[static_cast<int>(axis)]),
        step(dims.numel(static_cast<int>(axis) + 1, dims.ndim())) {}
  int64_t first(int64_t o, int64_t i) const { return o * extent * step + i; }
  int64_t outer;
  int64_t extent;
  int64_t step;
};

/// For each line: `load(at, line)` fills n numbers and `store(at, line)` takes the transformed
/// ones. `from` and `to` are the lines of the arrays that these read and write.
template <typename R, typename Load, typename Store>
void transform_lines(const Lines& from, const Lines& to, int64_t n, bool forward, Load&& load,
                     Store&& store) {
  if (from.outer * from.step == 0 || n == 0) return;
  LineTransform<R> transform(n, forward);
  std::vector<std::complex<R>> in(static_cast<size_t>(n)), out(static_cast<size_t>(n));
  for (int64_t o = 0; o < from.outer; ++o) {
    for (int64_t i = 0; i < from.step; ++i) {
      load(from.first(o, i), in.data());
      transform.run(in.data(), out.data());
      store(to.first(o, i), out.data());
    }
  }
}

/// In place, along each of axes but for the last `skipped` ones.
template <typename C>
void transform_all(C* x, const Dims& dims, const std::vector<int64_t>& axes, size_t skipped,
                   bool forward) {
  using R = part_t<C>;
  for (size_t a = 0; a + skipped < axes.size(); ++a) {
    const Lines lines(dims, axes[a]);
    const int64_t n = lines.extent, step = lines.step;
    transform_lines<R>(
        lines, lines, n, forward,
        [=](int64_t at, std::complex<R>* line) {
          for (int64_t t = 0; t < n; ++t) line[t] = x[at + t * step];
        },
        [=](int64_t at, const std::complex<R>* line) {
          for (int64_t t = 0; t < n; ++t) x[at + t * step] = line[t];
        });
  }
}

/// out = the first elements of the transform of real lines; those between the first and the middle
/// one `doubled` where the others are their mirror images.
template <typename C>
void real_to_complex(const DenseTensor& x, int64_t axis, bool forward, double scale, bool doubled,
                     DenseTensor* out) {
  using R = part_t<C>;
  const Lines from(x.dims(), axis), to(out->dims(), axis);
  const int64_t n = from.extent, step = from.step;
  const int64_t kept = doubled ? std::min(to.extent, n / 2 + 1) : to.extent;
  const R* data = x.data<R>();
  C* target = out->mutable_data<C>();
  const R factor = static_cast<R>(scale);
  if (kept < to.extent) std::fill_n(target, out->numel(), C(0));
  transform_lines<R>(
      from, to, n, forward,
      [=](int64_t at, std::complex<R>* line) {
        for (int64_t t = 0; t < n; ++t) line[t] = data[at + t * step];
      },
      [=](int64_t at, const std::complex<R>* line) {
        for (int64_t k = 0; k < kept; ++k) {
          const bool mirrored = doubled && k > 0 && 2 * k < n;
          target[at + k * step] = line[k] * (mirrored ? 2 * factor : factor);
        }
      });
}

/// out = the real part of the transform of lines that go on as zeros, or as `mirrored` conjugates.
template <typename C>
void complex_to_real(const C* x, const Dims& x_dims, int64_t axis, bool forward, double scale,
                     bool mirrored, DenseTensor* out) {
  using R = part_t<C>;
  const Lines from(x_dims, axis), to(out->dims(), axis);
  const int64_t n = to.extent, step = from.step;
  const int64_t given = std::min(from.extent, mirrored ? n / 2 + 1 : n);
  R* target = out->mutable_data<R>();
  const R factor = static_cast<R>(scale);
  transform_lines<R>(
      from, to, n, forward,
      [=](int64_t at, std::complex<R>* line) {
        for (int64_t k = 0; k < given; ++k) line[k] = x[at + k * step];
        for (int64_t k = given; k < n; ++k) line[k] = mirrored ? std::conj(line[n - k]) : R(0);
      },
      [=](int64_t at, const std::complex<R>* line) {
        for (int64_t t = 0; t < n; ++t) target[at + t * step] = line[t].real() * factor;
      });
}

template <typename C>
void scale_all(C* x, int64_t count, double scale) {
  if (scale == 1) return;
  const auto factor = static_cast<part_t<C>>(scale);
  for (int64_t i = 0; i < count; ++i) x[i] *= factor;
}

template <typename C>
void complex_transform(const DenseTensor& x, const std::vector<int64_t>& axes, bool forward,
                       double scale, DenseTensor* out) {
  C* to = out->mutable_data<C>();
  std::copy_n(x.data<C>(), x.numel(), to);
  transform_all(to, x.dims(), axes, 0, forward);
  scale_all(to, x.numel(), scale);
}

/// Transforms x along all axes but the last, beside it.
template <typename C>
std::vector<C> along_others(const DenseTensor& x, const std::vector<int64_t>& axes, bool forward) {
  std::vector<C> result(x.data<C>(), x.data<C>() + x.numel());
  transform_all(result.data(), x.dims(), axes, 1, forward);
  return result;
}

}  // namespace

template <typename T, typename Context>
void FftC2cKernel(const Context&, const DenseTensor& x, const std::vector<int64_t>& axes,
                  const std::string& normalization, bool forward, DenseTensor* out) {
  complex_transform<T>(x, axes, forward, scale_of(normalization, forward, x.dims(), axes), out);
}

template <typename T, typename Context>
void FftC2cGradKernel(const Context&, const DenseTensor& out_grad, const std::vector<int64_t>& axes,
                      const std::string& normalization, bool forward, DenseTensor* x_grad) {
  complex_transform<T>(out_grad, axes, !forward,
                       scale_of(normalization, forward, out_grad.dims(), axes), x_grad);
}

template <typename T, typename Context>
void FftR2cKernel(const Context&, const DenseTensor& x, const std::vector<int64_t>& axes,
                  const std::string& normalization, bool forward, DenseTensor* out) {
  using C = Complex<T>;
  const double scale = scale_of(normalization, forward, x.dims(), axes);
  real_to_complex<C>(x, axes.back(), forward, scale, false, out);
  transform_all(out->mutable_data<C>(), out->dims(), axes, 1, forward);
}

template <typename T, typename Context>
void FftR2cGradKernel(const Context&, const DenseTensor& out_grad, const std::vector<int64_t>& axes,
                      const std::string& normalization, bool forward, DenseTensor* x_grad) {
  const double scale = scale_of(normalization, forward, x_grad->dims(), axes);
  const auto g = along_others<Complex<T>>(out_grad, axes, !forward);
  complex_to_real(g.data(), out_grad.dims(), axes.back(), !forward, scale, false, x_grad);
}

/// Of x's last dim the first half is read, and the imaginary parts of its ends count for nothing.
template <typename T, typename Context>
void FftC2rKernel(const Context&, const DenseTensor& x, const std::vector<int64_t>& axes,
                  const std::string& normalization, bool forward, DenseTensor* out) {
  const double scale = scale_of(normalization, forward, out->dims(), axes);
  const auto half = along_others<T>(x, axes, forward);
  complex_to_real(half.data(), x.dims(), axes.back(), forward, scale, true, out);
}

template <typename T, typename Context>
void FftC2rGradKernel(const Context&, const DenseTensor& out_grad, const std::vector<int64_t>& axes,
                      const std::string& normalization, bool forward, DenseTensor* x_grad) {
  const double scale = scale_of(normalization, forward, out_grad.dims(), axes);
  real_to_complex<T>(out_grad, axes.back(), !forward, scale, true, x_grad);
  transform_all(x_grad->mutable_data<T>(), x_grad->dims(), axes, 1, !forward);
}

using Reals = TypeList<float, double>;
PHI_REGISTER_KERNEL(fft_c2c, CPU, FftC2cKernel, Complexes);
PHI_REGISTER_KERNEL(fft_c2c_grad, CPU, FftC2cGradKernel, Complexes);
PHI_REGISTER_KERNEL(fft_r2c, CPU, FftR2cKernel, Reals);
PHI_REGISTER_KERNEL(fft_r2c_grad, CPU, FftR2cGradKernel, Reals);
PHI_REGISTER_KERNEL(fft_c2r, CPU, FftC2rKernel, Complexes);
PHI_REGISTER_KERNEL(fft_c2r_grad, CPU, FftC2rGradKernel, Complexes);

}  // namespace phi
