// affine_grid on GPUs: sampling positions of an affine map.
#include "phi/generated/kernels/image.h"
#include "phi/gpu/index_space.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/lines.h"
#include "phi/kernels/image/affine_coordinates.h"

namespace phi {
namespace {

/// Sampling positions of a grid [n, extents.., coordinates].
struct AffineGrid {
  int64_t n;
  int64_t rows;  // coordinates per position
  int64_t places;
  gpu::Divider extents[3];  // extents along x, y, z
  bool align_corners;

  AffineGrid(const Dims& grid, bool align)
      : n(grid[0]),
        rows(grid.back()),
        places(grid.numel(1, grid.ndim() - 1)),
        align_corners(align) {
    for (int d = 0; d < 3; ++d) {
      extents[d] = gpu::Divider(d < grid.ndim() - 2 ? grid[grid.ndim() - 2 - d] : 1);
    }
  }

  /// Coordinate k of a position; 1 for k = rows, the homogeneous coordinate.
  template <typename C>
  PHI_HD C coordinate(int64_t place, int64_t k) const {
    if (k == rows) return C(1);
    int64_t outer = place;
    int64_t at = 0;
    int64_t extent = 1;
    PHI_UNROLL(3)
    for (int d = 0; d < 3; ++d) {
      if (d > k) break;
      extent = extents[d].by();
      const int64_t rest = extents[d].quotient(outer);
      at = outer - rest * extent;
      outer = rest;
    }
    return affine_coordinate<C>(at, extent, align_corners);
  }
};

/// Computes element i of the grid.
template <typename T>
struct MapPlace {
  AffineGrid grid;
  gpu::IndexSpace<2> space;  // [places, rows]
  const T* matrices;
  PHI_HD T operator()(int64_t i) const {
    using C = compute_t<T>;
    const auto at = space.place(i);
    const T* const row = matrices + (at.outer * grid.rows + at.along[1]) * (grid.rows + 1);
    C sum = C(0);
    for (int64_t k = 0; k <= grid.rows; ++k)
      sum += static_cast<C>(row[k]) * grid.coordinate<C>(at.along[0], k);
    return static_cast<T>(sum);
  }
};

/// Computes element `line` of the gradient of the matrices [n, rows, rows + 1].
template <typename T>
struct MatrixLine {
  AffineGrid grid;
  gpu::IndexSpace<2> space;  // [rows, rows + 1]
  const T* out_grad;
  T* matrix_grad;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    using C = compute_t<T>;
    const auto at = space.place(line);
    const int64_t k = at.along[1];
    const T* const from = out_grad + at.outer * grid.places * grid.rows + at.along[0];
    const C sum = team.template sum<C>(grid.places, [&](int64_t place) {
      return static_cast<C>(from[place * grid.rows]) * grid.template coordinate<C>(place, k);
    });
    if (team.index() == 0) matrix_grad[line] = static_cast<T>(sum);
  }
};

}  // namespace

template <typename T, typename Context>
void AffineGridKernel(const Context& ctx, const DenseTensor& input, bool align_corners,
                      DenseTensor* output) {
  const AffineGrid grid(output->dims(), align_corners);
  index_loop(ctx, output->mutable_data<T>(), output->numel(),
             MapPlace<T>{grid, gpu::IndexSpace<2>({grid.places, grid.rows}), input.data<T>()});
}

template <typename T, typename Context>
void AffineGridGradKernel(const Context& ctx, const DenseTensor& output_grad, bool align_corners,
                          DenseTensor* input_grad) {
  const AffineGrid grid(output_grad.dims(), align_corners);
  gpu::for_each_line(ctx, gpu::AxisLines::rows(input_grad->numel(), grid.places),
                     MatrixLine<T>{grid, gpu::IndexSpace<2>({grid.rows, grid.rows + 1}),
                                   output_grad.data<T>(), input_grad->mutable_data<T>()});
}

PHI_REGISTER_KERNEL(affine_grid, GPU, AffineGridKernel, Floats);
PHI_REGISTER_KERNEL(affine_grid_grad, GPU, AffineGridGradKernel, Floats);

}  // namespace phi
