// unfold, which lays the windows of an image out as columns, and fold, its inverse but for elements
// of several windows, which it adds up. Each is the gradient of the other.
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image.h"
#include "phi/infermeta/image.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/window/columns.h"

namespace phi {
namespace {

/// The windows over images of these two extents.
Sliding sliding_over(const Dims& extents, const std::vector<int>& kernel_sizes,
                     const std::vector<int>& strides, const std::vector<int>& paddings,
                     const std::vector<int>& dilations) {
  const Windows windows = column_windows(std::span(extents.begin(), extents.end()), kernel_sizes,
                                         strides, paddings, dilations);
  const Dims positions{windows[0].positions(extents[0]), windows[1].positions(extents[1])};
  return {extents, positions, windows};
}

}  // namespace

template <typename T, typename Context>
void UnfoldKernel(const Context&, const DenseTensor& x, const std::vector<int>& kernel_sizes,
                  const std::vector<int>& strides, const std::vector<int>& paddings,
                  const std::vector<int>& dilations, DenseTensor* out) {
  const Sliding s =
      sliding_over({x.dims()[2], x.dims()[3]}, kernel_sizes, strides, paddings, dilations);
  const T* image = x.data<T>();
  T* columns = out->mutable_data<T>();
  for (int64_t i = 0; i < x.dims()[0] * x.dims()[1]; ++i) {
    image_to_columns(s, image + i * s.pixels(), columns + i * s.taps() * s.num_positions());
  }
}

/// 16-bit sums are kept in float.
template <typename T, typename Context>
void FoldKernel(const Context&, const DenseTensor& x, const std::vector<int>& /*output_sizes*/,
                const std::vector<int>& kernel_sizes, const std::vector<int>& strides,
                const std::vector<int>& paddings, const std::vector<int>& dilations,
                DenseTensor* out) {
  using C = compute_t<T>;
  const Dims& dims = out->dims();
  const Sliding s = sliding_over({dims[2], dims[3]}, kernel_sizes, strides, paddings, dilations);
  const T* columns = x.data<T>();
  T* image = out->mutable_data<T>();
  std::vector<C> sums(static_cast<size_t>(s.pixels()));
  for (int64_t i = 0; i < dims[0] * dims[1]; ++i) {
    std::ranges::fill(sums, C(0));
    columns_to_image(s, columns + i * s.taps() * s.num_positions(), sums.data());
    convert(sums.data(), image + i * s.pixels(), s.pixels());
  }
}

using Folded = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(unfold, CPU, UnfoldKernel, Folded);
PHI_REGISTER_KERNEL(fold, CPU, FoldKernel, Folded);

}  // namespace phi
