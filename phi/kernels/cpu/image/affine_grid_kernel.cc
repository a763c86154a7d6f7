// affine_grid on the CPU: where an affine map takes the elements of an image, whose coordinates are
// -1 to 1 along each spatial dim, x (the last dim) first.
#include <algorithm>
#include <array>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/scratch.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/image/affine_coordinates.h"

namespace phi {
namespace {

template <typename C>
std::vector<C> coordinates(int64_t n, bool align_corners) {
  std::vector<C> places(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) places[i] = affine_coordinate<C>(i, n, align_corners);
  return places;
}

/// Calls f(number of the place, its coordinates and a 1) for all elements of an image of the
/// spatial extents that a grid [n, extents..., coordinates] has.
template <typename C, typename F>
void for_each_place(const Dims& grid, bool align_corners, F f) {
  const int spatial = grid.ndim() - 2;
  const int64_t depth = spatial == 3 ? grid[1] : 1;
  const auto z = coordinates<C>(depth, align_corners);
  const auto y = coordinates<C>(grid[spatial - 1], align_corners);
  const auto x = coordinates<C>(grid[spatial], align_corners);
  int64_t place = 0;
  for (C at_z : z) {
    for (C at_y : y) {
      for (C at_x : x) {
        const std::array<C, 4> at = {at_x, at_y, spatial == 3 ? at_z : C(1), C(1)};
        f(place++, at);
      }
    }
  }
}

}  // namespace

template <typename T, typename Context>
void AffineGridKernel(const Context&, const DenseTensor& input, bool align_corners,
                      DenseTensor* output) {
  using C = compute_t<T>;
  const Dims& dims = output->dims();
  const int64_t rows = dims.back();
  const int64_t size = dims.numel(1, dims.ndim());
  const T* matrices = input.data<T>();
  T* out = output->mutable_data<T>();
  for_each_place<C>(dims, align_corners, [&](int64_t place, const std::array<C, 4>& at) {
    for (int64_t n = 0; n < dims[0]; ++n) {
      const T* matrix = matrices + n * rows * (rows + 1);
      T* to = out + n * size + place * rows;
      for (int64_t r = 0; r < rows; ++r) {
        C sum = C(0);
        for (int64_t k = 0; k <= rows; ++k) {
          sum += convert_value<C>(matrix[r * (rows + 1) + k]) * at[k];
        }
        to[r] = convert_value<T>(sum);
      }
    }
  });
}

template <typename T, typename Context>
void AffineGridGradKernel(const Context&, const DenseTensor& output_grad, bool align_corners,
                          DenseTensor* input_grad) {
  using C = compute_t<T>;
  const Dims& dims = output_grad.dims();
  const int64_t rows = dims.back();
  const int64_t size = dims.numel(1, dims.ndim());
  const T* g = output_grad.data<T>();
  ScratchVector<C> sums(static_cast<size_t>(input_grad->numel()), C(0));
  for_each_place<C>(dims, align_corners, [&](int64_t place, const std::array<C, 4>& at) {
    for (int64_t n = 0; n < dims[0]; ++n) {
      const T* from = g + n * size + place * rows;
      C* matrix = sums.data() + n * rows * (rows + 1);
      for (int64_t r = 0; r < rows; ++r) {
        const C each = convert_value<C>(from[r]);
        for (int64_t k = 0; k <= rows; ++k) matrix[r * (rows + 1) + k] += each * at[k];
      }
    }
  });
  convert(sums.data(), input_grad->mutable_data<T>(), input_grad->numel());
}

PHI_REGISTER_KERNEL(affine_grid, CPU, AffineGridKernel, Floats);
PHI_REGISTER_KERNEL(affine_grid_grad, CPU, AffineGridGradKernel, Floats);

}  // namespace phi
