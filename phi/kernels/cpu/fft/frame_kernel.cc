// Signals in overlapping frames, and what frames add up to.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/fft.h"
#include "phi/kernels/fft/framing.h"

namespace phi {
namespace {

template <typename T>
void cut(const Framing& s, const T* signal, T* frames) {
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t e = 0; e < s.frame_length; ++e) {
      for (int64_t f = 0; f < s.frames; ++f) {
        const T* from = signal + (o * s.length + f * s.hop + e) * s.inner;
        std::copy_n(from, s.inner, frames + s.at(o, f, e));
      }
    }
  }
}

/// Each element of the signal is the sum over the frames that have it.
template <typename T>
void add_up(const Framing& s, const T* frames, T* signal) {
  using C = frame_sum_t<T>;
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t t = 0; t < s.length; ++t) {
      const int64_t begin = t < s.frame_length ? 0 : (t - s.frame_length) / s.hop + 1;
      const int64_t end = std::min(s.frames, t / s.hop + 1);
      for (int64_t i = 0; i < s.inner; ++i) {
        C sum = 0;
        for (int64_t f = begin; f < end; ++f) {
          sum += static_cast<C>(frames[s.at(o, f, t - f * s.hop) + i]);
        }
        signal[(o * s.length + t) * s.inner + i] = static_cast<T>(sum);
      }
    }
  }
}

}  // namespace

template <typename T, typename Context>
void FrameKernel(const Context&, const DenseTensor& x, int hop_length, int axis, DenseTensor* out) {
  cut(Framing(x.dims(), out->dims(), hop_length, axis), x.data<T>(), out->mutable_data<T>());
}

template <typename T, typename Context>
void FrameGradKernel(const Context&, const DenseTensor& out_grad, int hop_length, int axis,
                     DenseTensor* x_grad) {
  add_up(Framing(x_grad->dims(), out_grad.dims(), hop_length, axis), out_grad.data<T>(),
         x_grad->mutable_data<T>());
}

template <typename T, typename Context>
void OverlapAddKernel(const Context&, const DenseTensor& x, int hop_length, int axis,
                      DenseTensor* out) {
  add_up(Framing(out->dims(), x.dims(), hop_length, axis), x.data<T>(), out->mutable_data<T>());
}

template <typename T, typename Context>
void OverlapAddGradKernel(const Context&, const DenseTensor& out_grad, int hop_length, int axis,
                          DenseTensor* x_grad) {
  cut(Framing(out_grad.dims(), x_grad->dims(), hop_length, axis), out_grad.data<T>(),
      x_grad->mutable_data<T>());
}

using FrameTypes = join_t<SignedNumbers, Complexes>;
using FrameGradTypes = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(frame, CPU, FrameKernel, FrameTypes);
PHI_REGISTER_KERNEL(frame_grad, CPU, FrameGradKernel, FrameGradTypes);
PHI_REGISTER_KERNEL(overlap_add, CPU, OverlapAddKernel, FrameTypes);
PHI_REGISTER_KERNEL(overlap_add_grad, CPU, OverlapAddGradKernel, FrameGradTypes);

}  // namespace phi
