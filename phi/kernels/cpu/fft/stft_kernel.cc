// Transforms of the frames of signals.
#include <cmath>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/fft.h"
#include "phi/kernels/cpu/fft/line_transform.h"

namespace phi {
namespace {

/// Signals [count, length] in frames, whose frequencies are [count, frequencies, frames].
struct Frames {
  Frames(const Dims& x, const Dims& out, int64_t window, int hop_length)
      : count(x[0]),
        length(x[1]),
        n(window),
        frequencies(out[1]),
        frames(out[2]),
        hop(hop_length) {}
  /// `f(begin of the frame, index of its first frequency)`
  template <typename F>
  void for_each(F&& f) const {
    for (int64_t s = 0; s < count; ++s) {
      for (int64_t j = 0; j < frames; ++j) {
        f(s * length + j * hop, s * frequencies * frames + j);
      }
    }
  }
  int64_t count, length, n, frequencies, frames, hop;
};

template <typename R>
R scale_of(bool normalized, int64_t n) {
  return normalized ? 1 / std::sqrt(static_cast<R>(n)) : R(1);
}

}  // namespace

/// `normalized` divides by the root of a frame's length.
template <typename T, typename Context>
void StftKernel(const Context&, const DenseTensor& x, const DenseTensor& window, int hop_length,
                bool normalized, DenseTensor* out) {
  using C = Complex<T>;
  const Frames s(x.dims(), out->dims(), window.numel(), hop_length);
  const T* signal = x.data<T>();
  const T* weights = window.data<T>();
  C* to = out->mutable_data<C>();
  LineTransform<T> transform(s.n, true);
  std::vector<std::complex<T>> in(static_cast<size_t>(s.n)), found(in.size());
  const T scale = scale_of<T>(normalized, s.n);
  s.for_each([&](int64_t begin, int64_t first) {
    for (int64_t t = 0; t < s.n; ++t) in[t] = signal[begin + t] * weights[t];
    transform.run(in.data(), found.data());
    for (int64_t k = 0; k < s.frequencies; ++k) to[first + k * s.frames] = found[k] * scale;
  });
}

template <typename T, typename Context>
void StftGradKernel(const Context&, const DenseTensor& window, const DenseTensor& out_grad,
                    int hop_length, bool normalized, DenseTensor* x_grad) {
  using C = Complex<T>;
  const Frames s(x_grad->dims(), out_grad.dims(), window.numel(), hop_length);
  const T* weights = window.data<T>();
  const C* g = out_grad.data<C>();
  T* to = x_grad->mutable_data<T>();
  std::fill_n(to, x_grad->numel(), T(0));
  LineTransform<T> transform(s.n, false);
  std::vector<std::complex<T>> in(static_cast<size_t>(s.n)), found(in.size());
  const T scale = scale_of<T>(normalized, s.n);
  s.for_each([&](int64_t begin, int64_t first) {
    for (int64_t k = 0; k < s.frequencies; ++k) in[k] = g[first + k * s.frames];
    transform.run(in.data(), found.data());
    for (int64_t t = 0; t < s.n; ++t) to[begin + t] += found[t].real() * weights[t] * scale;
  });
}

using Reals = TypeList<float, double>;
PHI_REGISTER_KERNEL(stft, CPU, StftKernel, Reals);
PHI_REGISTER_KERNEL(stft_grad, CPU, StftGradKernel, Reals);

}  // namespace phi
