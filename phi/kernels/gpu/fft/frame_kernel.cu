// frame and overlap_add on GPUs.
#include "phi/generated/kernels/fft.h"
#include "phi/kernels/fft/framing.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

/// Computes element i of the frames.
template <typename T>
struct CutFrame {
  Framing framing;
  const T* signal;

  PHI_HD T operator()(int64_t i) const {
    const Framing& s = framing;
    if (s.first) {
      const int64_t f = i / s.frame_step;
      const int64_t e = i % s.frame_step / s.inner;
      return signal[(f * s.hop + e) * s.inner + i % s.inner];
    }
    const int64_t f = i % s.frames;
    const int64_t e = i / s.frames % s.frame_length;
    const int64_t o = i / s.frames / s.frame_length;
    return signal[o * s.length + f * s.hop + e];
  }
};

/// Element i of the signal is the sum over the frames that contain it.
template <typename T>
struct AddFrames {
  Framing framing;
  const T* frames;

  PHI_HD T operator()(int64_t i) const {
    using C = frame_sum_t<T>;
    const Framing& s = framing;
    const int64_t inner = i % s.inner;
    const int64_t t = i / s.inner % s.length;
    const int64_t o = i / s.inner / s.length;
    const int64_t begin = t < s.frame_length ? 0 : (t - s.frame_length) / s.hop + 1;
    const int64_t last = t / s.hop + 1;
    const int64_t end = last < s.frames ? last : s.frames;
    C sum = 0;
    for (int64_t f = begin; f < end; ++f)
      sum += static_cast<C>(frames[s.at(o, f, t - f * s.hop) + inner]);
    return static_cast<T>(sum);
  }
};

template <typename T>
void cut(const GpuContext& ctx, const Framing& framing, const DenseTensor& signal,
         DenseTensor* frames) {
  index_loop(ctx, frames->mutable_data<T>(), frames->numel(),
             CutFrame<T>{framing, signal.data<T>()});
}

template <typename T>
void add_up(const GpuContext& ctx, const Framing& framing, const DenseTensor& frames,
            DenseTensor* signal) {
  index_loop(ctx, signal->mutable_data<T>(), signal->numel(),
             AddFrames<T>{framing, frames.data<T>()});
}

}  // namespace

template <typename T, typename Context>
void FrameKernel(const Context& ctx, const DenseTensor& x, int hop_length, int axis,
                 DenseTensor* out) {
  cut<T>(ctx, Framing(x.dims(), out->dims(), hop_length, axis), x, out);
}

template <typename T, typename Context>
void FrameGradKernel(const Context& ctx, const DenseTensor& out_grad, int hop_length, int axis,
                     DenseTensor* x_grad) {
  add_up<T>(ctx, Framing(x_grad->dims(), out_grad.dims(), hop_length, axis), out_grad, x_grad);
}

template <typename T, typename Context>
void OverlapAddKernel(const Context& ctx, const DenseTensor& x, int hop_length, int axis,
                      DenseTensor* out) {
  add_up<T>(ctx, Framing(out->dims(), x.dims(), hop_length, axis), x, out);
}

template <typename T, typename Context>
void OverlapAddGradKernel(const Context& ctx, const DenseTensor& out_grad, int hop_length, int axis,
                          DenseTensor* x_grad) {
  cut<T>(ctx, Framing(out_grad.dims(), x_grad->dims(), hop_length, axis), out_grad, x_grad);
}

using GpuFrameTypes = join_t<SignedNumbers, Complexes>;
using GpuFrameGradTypes = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(frame, GPU, FrameKernel, GpuFrameTypes);
PHI_REGISTER_KERNEL(frame_grad, GPU, FrameGradKernel, GpuFrameGradTypes);
PHI_REGISTER_KERNEL(overlap_add, GPU, OverlapAddKernel, GpuFrameTypes);
PHI_REGISTER_KERNEL(overlap_add_grad, GPU, OverlapAddGradKernel, GpuFrameGradTypes);

}  // namespace phi
