// affine_grid on the CPU: applies an affine map to the coordinates of an image's elements, which
// run from -1 to 1 along each spatial dim, x (the last dim) first.
#include <algorithm>
#include <array>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"
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

/// Factors of the columns of a matrix [kRows, kRows + 1] for a line of places. The factor of the
/// first column is each place's x and is left out.
template <typename C, int kRows>
using Factors = std::array<C, kRows + 1>;

/// Calls f(image, line, x, factors) for the lines of all images of a grid [n, extents..., kRows].
template <typename C, int kRows, typename F>
void for_each_grid_line(const Dims& grid, bool align_corners, F f) {
  const auto x = coordinates<C>(grid[kRows], align_corners);
  const auto y = coordinates<C>(grid[kRows - 1], align_corners);
  const auto z = coordinates<C>(kRows == 3 ? grid[1] : 1, align_corners);
  int64_t line = 0;
  for (int64_t n = 0; n < grid[0]; ++n) {
    for (C at_z : z) {
      for (C at_y : y) {
        Factors<C, kRows> factors;
        factors.fill(C(1));
        factors[1] = at_y;
        if constexpr (kRows == 3) factors[2] = at_z;
        f(n, line++, x, factors);
      }
    }
  }
}

/// Writes number r of each place of a line: the sum of terms[k][r], the first multiplied by the
/// place's x.
template <typename C, int kRows>
void write_line(const std::array<std::array<C, kRows>, kRows + 1>& terms, const std::vector<C>& x,
                C* line) {
  run_best_isa<C>([terms, line, n = std::ssize(x), x = x.data()] {
    for (int64_t i = 0; i < n; ++i) {
      for (int r = 0; r < kRows; ++r) {
        C sum = terms[0][r] * x[i];
        for (int k = 1; k <= kRows; ++k) sum += terms[k][r];
        line[i * kRows + r] = sum;
      }
    }
  });
}

template <typename T, int kRows>
void write_grid(const DenseTensor& input, bool align_corners, DenseTensor* output) {
  using C = compute_t<T>;
  const T* matrices = input.data<T>();
  RowWriter<T> lines(output->mutable_data<T>(), output->dims()[kRows] * kRows);
  for_each_grid_line<C, kRows>(output->dims(), align_corners,
                               [&](int64_t n, int64_t line, const auto& x, const auto& factors) {
                                 const T* matrix = matrices + n * kRows * (kRows + 1);
                                 std::array<std::array<C, kRows>, kRows + 1> terms;
                                 for (int r = 0; r < kRows; ++r) {
                                   for (int k = 0; k <= kRows; ++k) {
                                     terms[k][r] =
                                         convert_value<C>(matrix[r * (kRows + 1) + k]) * factors[k];
                                   }
                                 }
                                 write_line<C, kRows>(terms, x, lines.row(line));
                                 lines.done(line);
                               });
}

template <typename T, int kRows>
void add_grid(const DenseTensor& output_grad, bool align_corners, DenseTensor* input_grad) {
  using C = compute_t<T>;
  const Dims& dims = output_grad.dims();
  RowReader<T> lines(output_grad.data<T>(), dims[kRows] * kRows);
  ScratchVector<C> sums(static_cast<size_t>(input_grad->numel()), C(0));
  for_each_grid_line<C, kRows>(
      dims, align_corners, [&](int64_t n, int64_t line, const auto& x, const auto& factors) {
        const C* from = lines.row(line);
        C* matrix = sums.data() + n * kRows * (kRows + 1);
        for (int r = 0; r < kRows; ++r, matrix += kRows + 1) {
          const auto [of_x, of_line] = row_sums<C>(
              std::ssize(x), [&](int64_t i) { return from[i * kRows + r] * x[i]; },
              [&](int64_t i) { return from[i * kRows + r]; });
          matrix[0] += of_x;
          for (int k = 1; k <= kRows; ++k) matrix[k] += of_line * factors[k];
        }
      });
  convert(sums.data(), input_grad->mutable_data<T>(), input_grad->numel());
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
  output_grad.dims().back() == 2 ? add_grid<T, 2>(output_grad, align_corners, input_grad)
                                 : add_grid<T, 3>(output_grad, align_corners, input_grad);
}

PHI_REGISTER_KERNEL(affine_grid, CPU, AffineGridKernel, Floats);
PHI_REGISTER_KERNEL(affine_grid_grad, CPU, AffineGridGradKernel, Floats);

}  // namespace phi
