// Short-time Fourier transform (stft) on the CPU, and its gradient.
#include <cmath>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/fft.h"
#include "phi/kernels/cpu/fft/line_transform.h"

namespace phi {
namespace {

/// Signals [count, length] cut into frames. The spectra are [count, frequencies, frames].
struct StftFrames {
  StftFrames(const Dims& x, const Dims& out, int64_t window, int hop_length)
      : count(x[0]),
        length(x[1]),
        n(window),
        frequencies(out[1]),
        frames(out[2]),
        hop(hop_length) {}
  bool empty() const { return count * frames == 0 || n == 0; }
  LineStrides in_signals() const { return {length, hop, 1}; }
  LineStrides in_frequencies() const { return {frequencies * frames, 1, frames}; }
  int64_t count, length, n, frequencies, frames, hop;
};

template <typename R>
R stft_scale(bool normalized, int64_t n) {
  return normalized ? 1 / std::sqrt(static_cast<R>(n)) : R(1);
}

/// Multiplies frames [count, frames, n] by the window and adds them up to signals.
template <typename R>
void add_frames(const StftFrames& s, const R* frames, const R* window, R* signals) {
  for (int64_t i = 0; i < s.count * s.frames; ++i, frames += s.n) {
    R* to = signals + i / s.frames * s.length + i % s.frames * s.hop;
    for (int64_t t = 0; t < s.n; ++t) to[t] += frames[t] * window[t];
  }
}

}  // namespace

/// `normalized` divides by the square root of the frame length.
template <typename T, typename Context>
void StftKernel(const Context&, const DenseTensor& x, const DenseTensor& window, int hop_length,
                bool normalized, DenseTensor* out) {
  const StftFrames s(x.dims(), out->dims(), window.numel(), hop_length);
  if (s.empty()) return;
  const T scale = stft_scale<T>(normalized, s.n);
  LineTransform<T> transform(s.n, true, LineKind::kReal);
  transform.of_real({s.count, s.frames, s.in_signals(), s.in_frequencies()}, window.data<T>(),
                    {s.frequencies, scale, scale}, x.data<T>(), out->mutable_data<Complex<T>>());
}

template <typename T, typename Context>
void StftGradKernel(const Context&, const DenseTensor& window, const DenseTensor& out_grad,
                    int hop_length, bool normalized, DenseTensor* x_grad) {
  const StftFrames s(x_grad->dims(), out_grad.dims(), window.numel(), hop_length);
  T* to = x_grad->mutable_data<T>();
  std::fill_n(to, x_grad->numel(), T(0));
  if (s.empty()) return;
  const T scale = stft_scale<T>(normalized, s.n);
  LineTransform<T> transform(s.n, false, LineKind::kReal);
  std::vector<T> frames(static_cast<size_t>(s.count * s.frames * s.n));
  const LineStrides behind_each_other{s.frames * s.n, s.n, 1};
  transform.to_real({s.count, s.frames, s.in_frequencies(), behind_each_other},
                    {s.frequencies, scale, scale / 2}, out_grad.data<Complex<T>>(), frames.data());
  add_frames(s, frames.data(), window.data<T>(), to);
}

using StftTypes = TypeList<float, double>;
PHI_REGISTER_KERNEL(stft, CPU, StftKernel, StftTypes);
PHI_REGISTER_KERNEL(stft_grad, CPU, StftGradKernel, StftTypes);

}  // namespace phi
