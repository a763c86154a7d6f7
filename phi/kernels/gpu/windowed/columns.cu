// im2col and col2im: each thread computes one element of the result.
#include "phi/common/dtype.h"
#include "phi/gpu/index_space.h"
#include "phi/gpu/launch.h"
#include "phi/kernels/gpu/windowed/columns.h"

namespace phi::gpu {
namespace {

/// Columns as [images, channels, taps.., positions..].
template <typename T>
__global__ void make_columns(Sliding s, IndexSpace<7> space, int64_t n, ImageSteps steps,
                             const T* image, T* columns) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    const auto place = space.place(i);
    const int64_t channel = place.along[0];
    int64_t pixel = 0;
    bool inside = true;
    PHI_UNROLL(3)
    for (int d = 0; d < 3; ++d) {
      const int64_t at = s.place(d, place.along[4 + d], place.along[1 + d]);
      inside = inside && at >= 0 && at < s.image[d];
      pixel = pixel * s.image[d] + at;
    }
    columns[i] =
        inside ? image[place.outer * steps.image + channel * steps.channel + pixel * steps.pixel]
               : T(0.0f);
  }
}

/// Index space of col2im: images as [images, channels, pixels..], and the strides of windows.
struct SumSpace {
  IndexSpace<4> pixels;
  Divider strides[3];

  explicit SumSpace(const Sliding& s, int64_t channels)
      : pixels({channels, s.image[0], s.image[1], s.image[2]}) {
    for (int d = 0; d < 3; ++d) strides[d] = Divider(s.window[d].stride);
  }
};

/// The position along dim `d` whose tap `tap` reads `element`; -1 for none.
__device__ int64_t position_of(const Sliding& s, const SumSpace& space, int d, int64_t element,
                               int64_t tap) {
  const int64_t from = element + s.window[d].pad_begin - tap * s.window[d].dilation;
  if (from < 0) return -1;
  const int64_t position = space.strides[d].quotient(from);
  const bool is_one = position * s.window[d].stride == from && position < s.positions[d];
  return is_one ? position : -1;
}

/// The sum over the taps that read this pixel, in their order.
template <typename C, typename From>
__device__ C sum_of_taps(const Sliding& s, const SumSpace& space, const int64_t* pixel,
                         const From* columns) {
  C sum = 0;
  int64_t row = 0;  // row of the tap
  for (int64_t tz = 0; tz < s.window[0].size; ++tz) {
    const int64_t z = position_of(s, space, 0, pixel[0], tz);
    for (int64_t ty = 0; ty < s.window[1].size; ++ty) {
      const int64_t y = position_of(s, space, 1, pixel[1], ty);
      for (int64_t tx = 0; tx < s.window[2].size; ++tx, row += s.num_positions()) {
        const int64_t x = position_of(s, space, 2, pixel[2], tx);
        if (z < 0 || y < 0 || x < 0) continue;
        sum += static_cast<C>(columns[row + (z * s.positions[1] + y) * s.positions[2] + x]);
      }
    }
  }
  return sum;
}

template <typename T, typename From>
__global__ void sum_columns(Sliding s, SumSpace space, int64_t n, ImageSteps steps,
                            const From* columns, T* image) {
  const int64_t channels = space.pixels.extent(0);
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    const auto place = space.pixels.place(i);
    const int64_t channel = place.along[0];
    const int64_t* const at = place.along + 1;
    const int64_t pixel = (at[0] * s.image[1] + at[1]) * s.image[2] + at[2];
    const From* const own =
        columns + (place.outer * channels + channel) * s.taps() * s.num_positions();
    const auto sum = sum_of_taps<compute_t<T>>(s, space, at, own);
    image[place.outer * steps.image + channel * steps.channel + pixel * steps.pixel] =
        static_cast<T>(sum);
  }
}

}  // namespace

template <typename T>
void image_to_columns(const GpuContext& ctx, const Sliding& sliding, int64_t images,
                      int64_t channels, const ImageSteps& steps, const T* image, T* columns) {
  const int64_t n = images * channels * sliding.taps() * sliding.num_positions();
  if (n == 0) return;
  const auto& positions = sliding.positions;
  const auto& window = sliding.window;
  const IndexSpace<7> space({channels, window[0].size, window[1].size, window[2].size, positions[0],
                             positions[1], positions[2]});
  launch(ctx, make_columns<T>, blocks_for(ctx, n), kBlock, sliding, space, n, steps, image,
         columns);
}

template <typename T, typename From>
void columns_to_image(const GpuContext& ctx, const Sliding& sliding, int64_t images,
                      int64_t channels, const ImageSteps& steps, const From* columns, T* image) {
  const int64_t n = images * channels * sliding.pixels();
  if (n == 0) return;
  launch(ctx, sum_columns<T, From>, blocks_for(ctx, n), kBlock, sliding,
         SumSpace(sliding, channels), n, steps, columns, image);
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
