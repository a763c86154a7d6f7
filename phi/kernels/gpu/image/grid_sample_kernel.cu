// grid_sample and its gradients on GPUs. The corners of sampling positions are sorted by the pixel
// that they touch, and each pixel of the image gradient sums its corners in the order of positions.
// Sums therefore need no atomics and repeat bit for bit.
#include <string>

#include "phi/generated/kernels/image.h"
#include "phi/gpu/index_space.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/positions.h"
#include "phi/kernels/image/sampling.h"

namespace phi {
namespace {

using sampling::CoordinateMap;
using sampling::Corner;
using sampling::GridNeighbours;
using sampling::SamplingShape;

/// Computes one element of the output [n, c, places].
template <typename T>
struct SampleElement {
  using C = compute_t<T>;
  SamplingShape space;
  gpu::IndexSpace<2> places;  // per image: [c, places]
  CoordinateMap placing;
  const T* x;
  const T* grid;
  PHI_HD T operator()(int64_t i) const {
    const auto place = places.place(i);
    const T* const at = grid + (place.outer * space.places + place.along[1]) * space.spatial;
    const T* const from = x + (place.outer * space.c + place.along[0]) * space.pixels;
    C sum = C(0);
    GridNeighbours<C>(at, space, placing).for_each(space, [&](const Corner<C>& corner) {
      sum += corner.weight * static_cast<C>(from[corner.offset]);
    });
    return static_cast<T>(sum);
  }
};

/// For each corner of each position of [n, places]: the element of [n, pixels] that it touches (-1
/// for none), and its weight.
template <typename T>
__global__ void list_corners(SamplingShape space, gpu::Divider places, CoordinateMap placing,
                             const T* grid, int64_t* elements, compute_t<T>* weights) {
  using C = compute_t<T>;
  const int corners = space.corners();
  const int64_t n = space.n * space.places;
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) {
    int64_t* const own = elements + i * corners;
    for (int k = 0; k < corners; ++k) own[k] = -1;
    const int64_t image = places.quotient(i);
    GridNeighbours<C>(grid + i * space.spatial, space, placing)
        .for_each(space, [&](const Corner<C>& corner) {
          own[corner.number] = image * space.pixels + corner.offset;
          weights[i * corners + corner.number] = corner.weight;
        });
  }
}

/// Computes element i of the image gradient [n, c, pixels].
template <typename T>
struct GatherCorners {
  using C = compute_t<T>;
  SamplingShape space;
  gpu::IndexSpace<2> pixels;  // per image: [c, pixels]
  const int64_t* begins;      // start of each pixel's corners, [n, pixels]
  const int64_t* corners;     // sorted by pixel, then by position
  const C* weights;
  const T* out_grad;
  PHI_HD T operator()(int64_t i) const {
    const auto at = pixels.place(i);
    const int64_t image = at.outer;
    const int64_t line = image * space.c + at.along[0];
    const int64_t element = image * space.pixels + at.along[1];
    C sum = C(0);
    for (int64_t k = begins[element]; k < begins[element + 1]; ++k) {
      const int64_t place = (corners[k] >> space.spatial) - image * space.places;
      sum += weights[corners[k]] * static_cast<C>(out_grad[line * space.places + place]);
    }
    return static_cast<T>(sum);
  }
};

/// Gradient of one position of [n, places].
template <typename T>
__global__ void find_grid_grad(SamplingShape space, gpu::Divider places, CoordinateMap placing,
                               const T* x, const T* grid, const T* out_grad, T* grid_grad) {
  using C = compute_t<T>;
  const int64_t n = space.n * space.places;
  for (int64_t i = gpu::first_item(); i < n; i += gpu::item_stride()) {
    const int64_t image = places.quotient(i);
    const int64_t place = i - image * space.places;
    const T* const from = x + image * space.c * space.pixels;
    const T* const given = out_grad + image * space.c * space.places + place;
    C sums[3] = {C(0), C(0), C(0)};
    GridNeighbours<C>(grid + i * space.spatial, space, placing)
        .for_each(space, [&](const Corner<C>& corner) {
          C along = C(0);
          for (int64_t c = 0; c < space.c; ++c) {
            along += static_cast<C>(given[c * space.places]) *
                     static_cast<C>(from[c * space.pixels + corner.offset]);
          }
          PHI_UNROLL(3)
          for (int d = 0; d < 3; ++d) sums[d] += corner.slopes[2 - d] * along;
        });
    PHI_UNROLL(3)
    for (int d = 0; d < 3; ++d) {
      if (d < space.spatial) grid_grad[i * space.spatial + d] = static_cast<T>(sums[d]);
    }
  }
}

template <typename T>
void find_image_grad(const GpuContext& ctx, const SamplingShape& s, const CoordinateMap& placing,
                     const DenseTensor& grid, const DenseTensor& out_grad, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const int64_t places = s.n * s.places;
  const Dims dims{places * s.corners()};
  DenseTensor elements = DenseTensor::empty({dims, DataType::INT64}, ctx.place());
  DenseTensor weights = DenseTensor::empty({dims, dtype_of<C>()}, ctx.place());
  if (places > 0) {
    gpu::launch(ctx, list_corners<T>, gpu::blocks_for(ctx, places), gpu::kBlock, s,
                gpu::Divider(s.places), placing, grid.data<T>(), elements.mutable_data<int64_t>(),
                weights.mutable_data<C>());
  }
  const auto named = gpu::positions_by_slice(ctx, elements, s.n * s.pixels);
  index_loop(ctx, x_grad->mutable_data<T>(), x_grad->numel(),
             GatherCorners<T>{s, gpu::IndexSpace<2>({s.c, s.pixels}), named.first(), named.of(),
                              weights.data<C>(), out_grad.data<T>()});
}

}  // namespace

template <typename T, typename Context>
void GridSampleKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& grid,
                      const std::string& mode, const std::string& padding_mode, bool align_corners,
                      DenseTensor* out) {
  const SamplingShape s(x.dims(), grid.dims());
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             SampleElement<T>{s, gpu::IndexSpace<2>({s.c, s.places}),
                              CoordinateMap(mode, padding_mode, align_corners), x.data<T>(),
                              grid.data<T>()});
}

/// A null gradient is not computed.
template <typename T, typename Context>
void GridSampleGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& grid,
                          const DenseTensor& out_grad, const std::string& mode,
                          const std::string& padding_mode, bool align_corners, DenseTensor* x_grad,
                          DenseTensor* grid_grad) {
  const SamplingShape s(x.dims(), grid.dims());
  const CoordinateMap placing(mode, padding_mode, align_corners);
  if (x_grad && x_grad->numel() > 0) find_image_grad<T>(ctx, s, placing, grid, out_grad, x_grad);
  if (grid_grad && grid_grad->numel() > 0) {
    gpu::launch(ctx, find_grid_grad<T>, gpu::blocks_for(ctx, s.n * s.places), gpu::kBlock, s,
                gpu::Divider(s.places), placing, x.data<T>(), grid.data<T>(), out_grad.data<T>(),
                grid_grad->mutable_data<T>());
  }
}

PHI_REGISTER_KERNEL(grid_sample, GPU, GridSampleKernel, Floats);
PHI_REGISTER_KERNEL(grid_sample_grad, GPU, GridSampleGradKernel, Floats);

}  // namespace phi
