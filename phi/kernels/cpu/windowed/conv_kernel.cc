// Convolutions on the CPU. float32 uses oneDNN if that is faster. All other convolutions move
// channels that are last to the front first.
#include <algorithm>

#include "phi/core/device/scratch_context.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/windowed/conv_gemm.h"
#include "phi/kernels/cpu/windowed/conv_onednn.h"

namespace phi {
namespace {

/// Transposes [n, rows, columns] to [n, columns, rows].
template <typename T>
void swap_last(const T* from, int64_t n, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t kTile = 32;
  for (int64_t i = 0; i < n; ++i, from += rows * columns, to += rows * columns) {
    for (int64_t r = 0; r < rows; r += kTile) {
      const int64_t end = std::min(r + kTile, rows);
      for (int64_t c = 0; c < columns; ++c) {
        for (int64_t row = r; row < end; ++row) to[c * rows + row] = from[row * columns + c];
      }
    }
  }
}

/// Elements of a channels-first copy; 0 if no copy is necessary.
int64_t copy_size(const ConvProblem& p, int64_t channels, int64_t pixels) {
  return p.channels_last ? p.n * channels * pixels : 0;
}

/// A channels-first copy of an array, or the array itself if its channels are first.
template <typename T>
class ChannelsFirst {
 public:
  ChannelsFirst(const ConvProblem& p, const T* data, int64_t channels, int64_t pixels)
      : data_(data) {
    if (!p.channels_last) return;
    T* copy = room_.room<T>(copy_size(p, channels, pixels));
    swap_last(data, p.n, pixels, channels, copy);
    data_ = copy;
  }
  const T* data() const { return data_; }

 private:
  const T* data_;
  Workspace room_;
};

/// Calls make(pointer), which writes a channels-first array, and converts the result to the layout
/// of `to`.
template <typename T, typename Make>
void make_channels_first(const ConvProblem& p, T* to, int64_t channels, int64_t pixels, Make make) {
  if (!p.channels_last) return make(to);
  Workspace room;
  T* made = room.room<T>(copy_size(p, channels, pixels));
  make(made);
  swap_last(made, p.n, channels, pixels, to);
}

template <typename T>
void convolve(const CpuContext&, const ConvProblem& p, const T* image, const T* filter, T* result) {
  if (p.is_empty()) return std::fill_n(result, p.n * p.result_size(), T(0)), void();
  if constexpr (std::is_same_v<T, float>) {
    if (onednn_takes(p)) return onednn_conv_forward(p, image, filter, result);
  }
  const ChannelsFirst<T> first(p, image, p.c, p.sliding.pixels());
  make_channels_first(p, result, p.m, p.sliding.num_positions(),
                      [&](T* to) { conv_forward(p, first.data(), filter, to); });
}

template <typename T>
void image_grad(const CpuContext&, const ConvProblem& p, const T* result_grad, const T* filter,
                T* grad) {
  if (p.is_empty()) return std::fill_n(grad, p.n * p.image_size(), T(0)), void();
  if constexpr (std::is_same_v<T, float>) {
    if (onednn_takes(p)) return onednn_conv_image_grad(p, result_grad, filter, grad);
  }
  const ChannelsFirst<T> first(p, result_grad, p.m, p.sliding.num_positions());
  make_channels_first(p, grad, p.c, p.sliding.pixels(),
                      [&](T* to) { conv_image_grad(p, first.data(), filter, to); });
}

template <typename T>
void filter_grad(const CpuContext&, const ConvProblem& p, const T* image, const T* result_grad,
                 T* grad) {
  if (p.is_empty()) return std::fill_n(grad, p.filter_size(), T(0)), void();
  if constexpr (std::is_same_v<T, float>) {
    if (onednn_takes(p)) return onednn_conv_filter_grad(p, image, result_grad, grad);
  }
  const ChannelsFirst<T> first(p, image, p.c, p.sliding.pixels());
  const ChannelsFirst<T> grad_first(p, result_grad, p.m, p.sliding.num_positions());
  conv_filter_grad(p, first.data(), grad_first.data(), grad);
}

// The primitives of ScratchContext, which plan the scratch memory of the functions above. oneDNN
// allocates its own memory.

template <typename T>
bool needs_scratch(const ConvProblem& p) {
  if (p.is_empty()) return false;
  return !std::is_same_v<T, float> || !onednn_takes(p);
}

/// Plans the channels-first copies of an image and a result for the lifetime of this object.
template <typename T>
class CopyScratch {
 public:
  CopyScratch(PlannedScratch& scratch, const ConvProblem& p)
      : image_(scratch, bytes(copy_size(p, p.c, p.sliding.pixels()))),
        result_(scratch, bytes(copy_size(p, p.m, p.sliding.num_positions()))) {}

 private:
  static size_t bytes(int64_t elements) { return static_cast<size_t>(elements) * sizeof(T); }

  PlannedScratch::Block image_, result_;
};

template <typename T>
void convolve(const ScratchContext& ctx, const ConvProblem& p, const T*, const T*, T*) {
  if (!needs_scratch<T>(p)) return;
  const CopyScratch<T> copies(ctx.scratch(), p);
  plan_conv_forward<T>(p, &ctx.scratch());
}

template <typename T>
void image_grad(const ScratchContext& ctx, const ConvProblem& p, const T*, const T*, T*) {
  if (!needs_scratch<T>(p)) return;
  const CopyScratch<T> copies(ctx.scratch(), p);
  plan_conv_image_grad<T>(p, &ctx.scratch());
}

template <typename T>
void filter_grad(const ScratchContext& ctx, const ConvProblem& p, const T*, const T*, T*) {
  if (!needs_scratch<T>(p)) return;
  const CopyScratch<T> copies(ctx.scratch(), p);
  plan_conv_filter_grad<T>(p, &ctx.scratch());
}

}  // namespace

}  // namespace phi

#include "phi/kernels/templates/windowed/conv.h"

namespace phi {

PHI_REGISTER_SCRATCH(conv, ConvKernel, Floats);
PHI_REGISTER_SCRATCH(conv_grad, ConvGradKernel, Floats);
PHI_REGISTER_SCRATCH(conv_transpose, ConvTransposeKernel, Floats);
PHI_REGISTER_SCRATCH(conv_transpose_grad, ConvTransposeGradKernel, Floats);

}  // namespace phi
