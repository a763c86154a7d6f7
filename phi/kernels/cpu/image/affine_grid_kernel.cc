// affine_grid on the CPU: where an affine map takes the elements of an image, whose coordinates are
// -1 to 1 along each spatial dim, x (the last dim) first.
#include <algorithm>
#include <array>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/cpu/scratch.h"
#include "phi/kernels/cpu/wide.h"
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

/// A line of the grid: element r of place i is a[r][0] x[i] + a[r][1] y + .. as far as a goes.
template <int kRows, typename C>
void write_line(const C (&terms)[kRows + 1][kRows], const std::vector<C>& x, C* line) {
  run_widest<C>([=, n = std::ssize(x), x = x.data(), terms = &terms] {
    C a[kRows + 1][kRows];
    std::copy_n(&(*terms)[0][0], (kRows + 1) * kRows, &a[0][0]);
    for (int64_t i = 0; i < n; ++i) {
      for (int r = 0; r < kRows; ++r) {
        C sum = a[0][r] * x[i];
        for (int k = 1; k <= kRows; ++k) sum += a[k][r];
        line[i * kRows + r] = sum;
      }
    }
  });
}

template <typename T, int kRows>
void write_grid(const DenseTensor& input, bool align_corners, DenseTensor* output) {
  using C = compute_t<T>;
  const Dims& dims = output->dims();
  const auto x = coordinates<C>(dims[kRows], align_corners);
  const auto y = coordinates<C>(dims[kRows - 1], align_corners);
  const auto z = coordinates<C>(kRows == 3 ? dims[1] : 1, align_corners);
  const int64_t width = std::ssize(x) * kRows;
  RowWriter<T> lines(output->mutable_data<T>(), width);
  int64_t line = 0;
  for (int64_t n = 0; n < dims[0]; ++n) {
    const T* matrix = input.data<T>() + n * kRows * (kRows + 1);
    for (C at_z : z) {
      for (C at_y : y) {
        C terms[kRows + 1][kRows];
        for (int r = 0; r < kRows; ++r) {
          const C at[] = {C(1), at_y, kRows == 3 ? at_z : C(1), C(1)};
          for (int k = 0; k <= kRows; ++k) {
            terms[k][r] = convert_value<C>(matrix[r * (kRows + 1) + k]) * at[k];
          }
        }
        write_line<kRows>(terms, x, lines.row(line));
        lines.done(line++);
      }
    }
  }
}

}  // namespace

template <typename T, typename Context>
void AffineGridKernel(const Context&, const DenseTensor& input, bool align_corners,
                      DenseTensor* output) {
  if (output->numel() == 0) return;
  output->dims().back() == 2 ? write_grid<T, 2>(input, align_corners, output)
                             : write_grid<T, 3>(input, align_corners, output);
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
