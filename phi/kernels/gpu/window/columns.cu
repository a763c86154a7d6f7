// Columns of images: each thread makes an element of one side.
#include "phi/common/dtype.h"
#include "phi/gpu/launch.h"
#include "phi/gpu/walk.h"
#include "phi/kernels/gpu/window/columns.h"

namespace phi::gpu {
namespace {

struct Place {
  int64_t at[3];
};

/// Number `i` of a row-major space of three dims.
__device__ Place place_of(int64_t i, int64_t rows, int64_t columns) {
  const int64_t row = quotient(i, columns);
  const int64_t depth = quotient(row, rows);
  return {{depth, row - depth * rows, i - row * columns}};
}

/// i taken apart: the last one of `n`, and what is before it.
__device__ int64_t take_last(int64_t* i, int64_t n) {
  const int64_t rest = quotient(*i, n);
  const int64_t last = *i - rest * n;
  *i = rest;
  return last;
}

template <typename T>
__global__ void make_columns(Sliding s, int64_t n, int64_t channels, ImageSteps steps,
                             const T* image, T* columns) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    int64_t rest = i;
    const Place position =
        place_of(take_last(&rest, s.num_positions()), s.positions[1], s.positions[2]);
    const Place tap = place_of(take_last(&rest, s.taps()), s.window[1].size, s.window[2].size);
    const int64_t channel = take_last(&rest, channels);
    int64_t pixel = 0;
    bool inside = true;
    PHI_UNROLL(3)
    for (int d = 0; d < 3; ++d) {
      const int64_t at = s.place(d, position.at[d], tap.at[d]);
      inside = inside && at >= 0 && at < s.image[d];
      pixel = pixel * s.image[d] + at;
    }
    columns[i] = inside ? image[rest * steps.image + channel * steps.channel + pixel * steps.pixel]
                        : T(0.0f);
  }
}

/// The position along dim `d` of which tap `tap` is this element; -1 for none.
__device__ int64_t position_of(const Sliding& s, int d, int64_t element, int64_t tap) {
  const int64_t from = element + s.window[d].pad_begin - tap * s.window[d].dilation;
  if (from < 0) return -1;
  const int64_t position = quotient(from, s.window[d].stride);
  const bool is_one = position * s.window[d].stride == from && position < s.positions[d];
  return is_one ? position : -1;
}

/// The sum over the taps that meet this pixel, in their order.
template <typename C, typename From>
__device__ C sum_of_taps(const Sliding& s, const Place& pixel, const From* columns) {
  C sum = 0;
  int64_t row = 0;  // of a tap
  for (int64_t tz = 0; tz < s.window[0].size; ++tz) {
    const int64_t z = position_of(s, 0, pixel.at[0], tz);
    for (int64_t ty = 0; ty < s.window[1].size; ++ty) {
      const int64_t y = position_of(s, 1, pixel.at[1], ty);
      for (int64_t tx = 0; tx < s.window[2].size; ++tx, row += s.num_positions()) {
        const int64_t x = position_of(s, 2, pixel.at[2], tx);
        if (z < 0 || y < 0 || x < 0) continue;
        sum += static_cast<C>(columns[row + (z * s.positions[1] + y) * s.positions[2] + x]);
      }
    }
  }
  return sum;
}

template <typename T, typename From>
__global__ void sum_columns(Sliding s, int64_t n, int64_t channels, ImageSteps steps,
                            const From* columns, T* image) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    int64_t rest = i;
    const int64_t pixel = take_last(&rest, s.pixels());
    const From* const own = columns + rest * s.taps() * s.num_positions();
    const int64_t channel = take_last(&rest, channels);
    const auto sum = sum_of_taps<compute_t<T>>(s, place_of(pixel, s.image[1], s.image[2]), own);
    image[rest * steps.image + channel * steps.channel + pixel * steps.pixel] = static_cast<T>(sum);
  }
}

}  // namespace

template <typename T>
void image_to_columns(const GpuContext& ctx, const Sliding& sliding, int64_t images,
                      int64_t channels, const ImageSteps& steps, const T* image, T* columns) {
  const int64_t n = images * channels * sliding.taps() * sliding.num_positions();
  if (n == 0) return;
  launch(ctx, make_columns<T>, blocks_for(ctx, n), kBlock, sliding, n, channels, steps, image,
         columns);
}

template <typename T, typename From>
void columns_to_image(const GpuContext& ctx, const Sliding& sliding, int64_t images,
                      int64_t channels, const ImageSteps& steps, const From* columns, T* image) {
  const int64_t n = images * channels * sliding.pixels();
  if (n == 0) return;
  launch(ctx, sum_columns<T, From>, blocks_for(ctx, n), kBlock, sliding, n, channels, steps,
         columns, image);
}

#define PHI_INSTANTIATE(T)                                                            \
  template void image_to_columns(const GpuContext&, const Sliding&, int64_t, int64_t, \
                                 const ImageSteps&, const T*, T*);                    \
  template void columns_to_image(const GpuContext&, const Sliding&, int64_t, int64_t, \
                                 const ImageSteps&, const T*, T*)
PHI_INSTANTIATE(float);
PHI_INSTANTIATE(double);
PHI_INSTANTIATE(float16);
PHI_INSTANTIATE(bfloat16);
PHI_INSTANTIATE(complex64);
PHI_INSTANTIATE(complex128);
#undef PHI_INSTANTIATE
template void columns_to_image(const GpuContext&, const Sliding&, int64_t, int64_t,
                               const ImageSteps&, const float*, float16*);
template void columns_to_image(const GpuContext&, const Sliding&, int64_t, int64_t,
                               const ImageSteps&, const float*, bfloat16*);

}  // namespace phi::gpu
