// grid_sample on the CPU: images at places between their elements, by the nearest element or
// linearly between those around, in two or three dims, with the gradients of both.
//
// A rank has whole images of some channels and some of the places; gradients that sum over what it
// lacks are partial sums.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

/// How a coordinate becomes a place in an extent.
struct Placing {
  bool nearest;
  bool zeros;
  bool reflects;
  bool align_corners;

  Placing(const std::string& mode, const std::string& padding_mode, bool align)
      : nearest(mode == "nearest"),
        zeros(padding_mode == "zeros"),
        reflects(padding_mode == "reflection"),
        align_corners(align) {}
};

/// A place along one dim, counted in elements, and how it changes with the coordinate.
template <typename C>
struct Place {
  C at;
  C slope;
};

/// at, thrown back at the ends as often as needed.
template <typename C>
Place<C> reflected(Place<C> place, int64_t extent, bool align_corners) {
  const C shift = align_corners ? C(0) : C(0.5);
  const C range = static_cast<C>(align_corners ? extent - 1 : extent);
  if (range <= C(0)) return {C(0), C(0)};
  const C from_low = place.at + shift;
  const C distance = std::abs(from_low);
  const C turns = std::floor(distance / range);
  const C rest = distance - turns * range;
  const bool returns = std::fmod(turns, C(2)) != C(0);
  const C sign = (from_low < C(0)) != returns ? C(-1) : C(1);
  return {(returns ? range - rest : rest) - shift, place.slope * sign};
}

/// NaN becomes 0.
template <typename C>
Place<C> clipped(const Place<C>& place, int64_t extent) {
  const C last = static_cast<C>(extent - 1);
  if (!(place.at > C(0))) return {C(0), C(0)};
  if (place.at >= last) return {last, C(0)};
  return place;
}

template <typename C>
Place<C> place_of(C coordinate, int64_t extent, const Placing& placing) {
  const C slope = static_cast<C>(placing.align_corners ? extent - 1 : extent) / C(2);
  const C first = static_cast<C>(extent - 1) / C(2);
  Place<C> place{first + coordinate * slope, slope};
  if (placing.reflects) place = reflected(place, extent, placing.align_corners);
  return placing.zeros ? place : clipped(place, extent);
}

/// The element before a place along one dim, or -1 if it is outside; the one behind likewise; how
/// far the place is behind the first.
template <typename C>
struct Between {
  std::array<int64_t, 2> element = {-1, -1};
  C behind = C(0);
  C slope = C(0);
};

template <typename C>
Between<C> between(C coordinate, int64_t extent, const Placing& placing) {
  const Place<C> place = place_of(coordinate, extent, placing);
  Between<C> found;
  // Also false for NaN: such a place is outside.
  const bool near = place.at > C(-1) && place.at < static_cast<C>(extent);
  if (!near) return found;
  const auto inside = [&](int64_t i) { return i >= 0 && i < extent ? i : -1; };
  if (placing.nearest) {
    found.element[0] = inside(static_cast<int64_t>(std::round(place.at)));
    return found;
  }
  const C before = std::floor(place.at);
  found.element = {inside(static_cast<int64_t>(before)), inside(static_cast<int64_t>(before) + 1)};
  found.behind = place.at - before;
  found.slope = place.slope;
  return found;
}

/// The elements around one place of a grid, which all channels share: up to eight.
template <typename C>
struct Around {
  std::array<Between<C>, 3> dims;  // of the image, the first without extent where there are two

  Around(const C* coordinates, const std::array<int64_t, 3>& extents, int spatial,
         const Placing& placing) {
    dims[0].element = {0, -1};
    for (int d = 0; d < spatial; ++d) {
      dims[2 - d] = between(coordinates[d], extents[2 - d], placing);
    }
  }
  /// Calls f(offset in the channel, weight, its derivatives by the coordinates of each dim).
  template <typename F>
  void for_each(const std::array<int64_t, 3>& extents, F f) const {
    for (int corner = 0; corner < 8; ++corner) {
      int64_t offset = 0;
      std::array<C, 3> weight;
      std::array<C, 3> slope;
      bool is_inside = true;
      for (int d = 0; d < 3; ++d) {
        const int side = corner >> (2 - d) & 1;
        const Between<C>& along = dims[d];
        is_inside &= along.element[side] >= 0;
        offset = offset * extents[d] + along.element[side];
        weight[d] = side ? along.behind : C(1) - along.behind;
        slope[d] = side ? along.slope : -along.slope;
      }
      if (!is_inside) continue;
      f(offset, weight[0] * weight[1] * weight[2],
        std::array<C, 3>{slope[0] * weight[1] * weight[2], weight[0] * slope[1] * weight[2],
                         weight[0] * weight[1] * slope[2]});
    }
  }
};

/// The extents of one call.
struct Sampling {
  int spatial;
  int64_t n;
  int64_t c;
  int64_t places;
  std::array<int64_t, 3> extents = {1, 1, 1};
  int64_t pixels = 1;

  Sampling(const Dims& x, const Dims& grid)
      : spatial(x.ndim() - 2), n(x[0]), c(x[1]), places(grid.numel(1, grid.ndim() - 1)) {
    for (int d = 0; d < spatial; ++d) {
      extents[3 - spatial + d] = x[2 + d];
      pixels *= x[2 + d];
    }
  }
  /// Calls f(image, place, what is around it) for all places of all images.
  template <typename C, typename F>
  void for_each(const C* grid, const Placing& placing, F f) const {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t p = 0; p < places; ++p, grid += spatial) {
        f(i, p, Around<C>(grid, extents, spatial, placing));
      }
    }
  }
};

}  // namespace

template <typename T, typename Context>
void GridSampleKernel(const Context&, const DenseTensor& x, const DenseTensor& grid,
                      const std::string& mode, const std::string& padding_mode, bool align_corners,
                      DenseTensor* out) {
  using C = compute_t<T>;
  const Sampling s(x.dims(), grid.dims());
  const T* images = x.data<T>();
  T* to = out->mutable_data<T>();
  const ComputeArray<C> coordinates(&grid);
  std::vector<C> sums(static_cast<size_t>(s.c));
  s.for_each(coordinates.data(), {mode, padding_mode, align_corners},
             [&](int64_t image, int64_t place, const Around<C>& around) {
               std::ranges::fill(sums, C(0));
               const T* from = images + image * s.c * s.pixels;
               around.for_each(s.extents, [&](int64_t offset, C weight, const auto&) {
                 for (int64_t c = 0; c < s.c; ++c) {
                   sums[c] += weight * convert_value<C>(from[c * s.pixels + offset]);
                 }
               });
               for (int64_t c = 0; c < s.c; ++c) {
                 to[(image * s.c + c) * s.places + place] = convert_value<T>(sums[c]);
               }
             });
}

template <typename T, typename Context>
void GridSampleGradKernel(const Context&, const DenseTensor& x, const DenseTensor& grid,
                          const DenseTensor& out_grad, const std::string& mode,
                          const std::string& padding_mode, bool align_corners, DenseTensor* x_grad,
                          DenseTensor* grid_grad) {
  using C = compute_t<T>;
  const Sampling s(x.dims(), grid.dims());
  const ComputeArray<C> images(&x);
  const ComputeArray<C> coordinates(&grid);
  const ComputeArray<C> g(&out_grad);
  std::vector<C> image_sums(x_grad ? static_cast<size_t>(x.numel()) : 0, C(0));
  std::vector<C> grid_sums(grid_grad ? static_cast<size_t>(grid.numel()) : 0, C(0));
  s.for_each(coordinates.data(), {mode, padding_mode, align_corners},
             [&](int64_t image, int64_t place, const Around<C>& around) {
               const C* from = images.data() + image * s.c * s.pixels;
               const C* given = g.data() + image * s.c * s.places + place;
               around.for_each(
                   s.extents, [&](int64_t offset, C weight, const std::array<C, 3>& slopes) {
                     C along = C(0);
                     for (int64_t c = 0; c < s.c; ++c) {
                       const C each = given[c * s.places];
                       if (x_grad)
                         image_sums[(image * s.c + c) * s.pixels + offset] += weight * each;
                       along += each * from[c * s.pixels + offset];
                     }
                     if (!grid_grad) return;
                     C* sums = grid_sums.data() + (image * s.places + place) * s.spatial;
                     for (int d = 0; d < s.spatial; ++d) sums[d] += slopes[2 - d] * along;
                   });
             });
  if (x_grad) convert(image_sums.data(), x_grad->mutable_data<T>(), x.numel());
  if (grid_grad) convert(grid_sums.data(), grid_grad->mutable_data<T>(), grid.numel());
}

PHI_REGISTER_KERNEL(grid_sample, CPU, GridSampleKernel, Floats);
PHI_REGISTER_KERNEL(grid_sample_grad, CPU, GridSampleGradKernel, Floats);

}  // namespace phi
