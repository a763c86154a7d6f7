// unfold, which writes the windows of an image as columns, and fold, which adds columns back into
// an image. Each is the gradient of the other. Device primitives: unfold_images and fold_images for
// a number of single-channel images.
#pragma once

#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image.h"
#include "phi/infermeta/image.h"
#include "phi/kernels/windowed/sliding.h"

namespace phi {
namespace {

/// The windows over images of these two extents.
Sliding sliding_over(const Dims& extents, const std::vector<int>& kernel_sizes,
                     const std::vector<int>& strides, const std::vector<int>& paddings,
                     const std::vector<int>& dilations) {
  const SlidingWindows windows = column_windows(std::span(extents.begin(), extents.end()),
                                                kernel_sizes, strides, paddings, dilations);
  const Dims positions{windows[0].positions(extents[0]), windows[1].positions(extents[1])};
  return {extents, positions, windows};
}

}  // namespace

template <typename T, typename Context>
void UnfoldKernel(const Context& ctx, const DenseTensor& x, const std::vector<int>& kernel_sizes,
                  const std::vector<int>& strides, const std::vector<int>& paddings,
                  const std::vector<int>& dilations, DenseTensor* out) {
  const Dims& dims = x.dims();
  const Sliding s = sliding_over({dims[2], dims[3]}, kernel_sizes, strides, paddings, dilations);
  unfold_images(ctx, s, dims[0] * dims[1], x.data<T>(), out->mutable_data<T>());
}

/// Half-precision sums are kept in float.
template <typename T, typename Context>
void FoldKernel(const Context& ctx, const DenseTensor& x, const std::vector<int>& /*output_sizes*/,
                const std::vector<int>& kernel_sizes, const std::vector<int>& strides,
                const std::vector<int>& paddings, const std::vector<int>& dilations,
                DenseTensor* out) {
  const Dims& dims = out->dims();
  const Sliding s = sliding_over({dims[2], dims[3]}, kernel_sizes, strides, paddings, dilations);
  fold_images(ctx, s, dims[0] * dims[1], x.data<T>(), out->mutable_data<T>());
}

using FoldTypes = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(unfold, PHI_DEVICE, UnfoldKernel, FoldTypes);
PHI_REGISTER_KERNEL(fold, PHI_DEVICE, FoldKernel, FoldTypes);

}  // namespace phi
