// Signals cut into overlapping frames, and frames added up to signals.
#include <algorithm>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/fft.h"
#include "phi/kernels/cpu/transpose_matrix.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/fft/framing.h"

namespace phi {
namespace {

// Returns the number of elements in a frame of one signal; they are contiguous if `first`.
int64_t row_of(const Framing& s) { return s.frame_length * s.inner; }

template <typename W>
void cut(const Framing& s, const W* signal, W* frames) {
  const int64_t row = row_of(s), hop = s.hop * s.inner;
  for (int64_t o = 0; o < s.outer; ++o, signal += s.length, frames += row * s.frames) {
    if (s.first) {
      for (int64_t f = 0; f < s.frames; ++f) std::copy_n(signal + f * hop, row, frames + f * row);
    } else {
      transpose_matrix(signal, hop, frames, s.frames, s.frames, row);
    }
  }
}

/// Calls f(frame, its elements as a contiguous array), in the order of the frames.
template <typename T, typename F>
void for_each_frame(const Framing& s, const T* frames, F f) {
  constexpr int64_t kTogether = 32;
  const int64_t row = row_of(s);
  std::vector<T> turned(static_cast<size_t>(s.first ? 0 : kTogether * row));
  for (int64_t begin = 0; begin < s.frames; begin += kTogether) {
    const int64_t count = std::min(kTogether, s.frames - begin);
    const T* rows = frames + begin * row;
    if (!s.first) {
      transpose_matrix(frames + begin, s.frames, turned.data(), row, row, count);
      rows = turned.data();
    }
    for (int64_t i = 0; i < count; ++i) f(begin + i, rows + i * row);
  }
}

/// Sets each element of the signal to the sum over the frames that contain it.
template <typename T>
void add_up(const Framing& s, const T* frames, T* signal) {
  using C = frame_sum_t<T>;
  const int64_t row = row_of(s), hop = s.hop * s.inner, length = s.length * s.inner;
  std::vector<C> sums(static_cast<size_t>(length));
  for (int64_t o = 0; o < s.outer; ++o, frames += row * s.frames, signal += length) {
    std::fill(sums.begin(), sums.end(), C(0));
    for_each_frame(s, frames, [&](int64_t f, const T* x) {
      C* to = sums.data() + f * hop;
      for (int64_t e = 0; e < row; ++e) to[e] += static_cast<C>(x[e]);
    });
    std::transform(sums.begin(), sums.end(), signal, [](C sum) { return static_cast<T>(sum); });
  }
}

/// Moves elements bit for bit, by their width.
template <typename T>
void cut(const Framing& s, const DenseTensor& signal, DenseTensor* frames) {
  using W = width_t<T>;
  cut(s, static_cast<const W*>(signal.raw_data()), static_cast<W*>(frames->mutable_raw_data()));
}

}  // namespace

template <typename T, typename Context>
void FrameKernel(const Context&, const DenseTensor& x, int hop_length, int axis, DenseTensor* out) {
  cut<T>(Framing(x.dims(), out->dims(), hop_length, axis), x, out);
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
  cut<T>(Framing(out_grad.dims(), x_grad->dims(), hop_length, axis), out_grad, x_grad);
}

using CpuFrameTypes = join_t<SignedNumbers, Complexes>;
using CpuFrameGradTypes = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(frame, CPU, FrameKernel, CpuFrameTypes);
PHI_REGISTER_KERNEL(frame_grad, CPU, FrameGradKernel, CpuFrameGradTypes);
PHI_REGISTER_KERNEL(overlap_add, CPU, OverlapAddKernel, CpuFrameTypes);
PHI_REGISTER_KERNEL(overlap_add_grad, CPU, OverlapAddGradKernel, CpuFrameGradTypes);

}  // namespace phi
