// unfold and fold on GPUs.
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/windowed/columns.h"

namespace phi {
namespace {

template <typename T>
void unfold_images(const GpuContext& ctx, const Sliding& s, int64_t images, const T* image,
                   T* columns) {
  gpu::image_to_columns(ctx, s, images, 1, gpu::image_steps(false, 1, s.pixels()), image, columns);
}
template <typename T>
void fold_images(const GpuContext& ctx, const Sliding& s, int64_t images, const T* columns,
                 T* image) {
  gpu::columns_to_image(ctx, s, images, 1, gpu::image_steps(false, 1, s.pixels()), columns, image);
}

}  // namespace
}  // namespace phi

#include "phi/kernels/templates/windowed/unfold.h"
