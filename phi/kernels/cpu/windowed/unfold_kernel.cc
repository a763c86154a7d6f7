// unfold and fold on the CPU.
#include <algorithm>
#include <vector>

#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/windowed/columns.h"

namespace phi {
namespace {

template <typename T>
void unfold_images(const CpuContext&, const Sliding& s, int64_t images, const T* image,
                   T* columns) {
  for (int64_t i = 0; i < images; ++i)
    image_to_columns(s, image + i * s.pixels(), columns + i * s.taps() * s.num_positions());
}

/// Half-precision sums are kept in float.
template <typename T>
void fold_images(const CpuContext&, const Sliding& s, int64_t images, const T* columns, T* image) {
  std::vector<compute_t<T>> sums(static_cast<size_t>(s.pixels()));
  for (int64_t i = 0; i < images; ++i) {
    std::ranges::fill(sums, compute_t<T>(0));
    columns_to_image(s, columns + i * s.taps() * s.num_positions(), sums.data());
    convert(sums.data(), image + i * s.pixels(), s.pixels());
  }
}

}  // namespace
}  // namespace phi

#include "phi/kernels/templates/windowed/unfold.h"
