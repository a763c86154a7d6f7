// Sampling positions between the elements of images (grid_sample), shared by all devices: the
// nearest element, or the surrounding elements in two or three dims with their weights.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "phi/common/dims.h"
#include "phi/kernels/functors/hd.h"

namespace phi::sampling {

/// How a coordinate is mapped to a position in an extent.
struct CoordinateMap {
  bool nearest;
  bool zeros;
  bool reflects;
  bool align_corners;

  CoordinateMap(const std::string& mode, const std::string& padding_mode, bool align)
      : nearest(mode == "nearest"),
        zeros(padding_mode == "zeros"),
        reflects(padding_mode == "reflection"),
        align_corners(align) {}
};

/// A position along one dim, in elements, and its derivative by the coordinate.
template <typename C>
struct AxisPosition {
  C at;
  C slope;
};

/// The position reflected at the ends of the extent until it is inside.
template <typename C>
PHI_HD AxisPosition<C> reflected(AxisPosition<C> place, int64_t extent, bool align_corners) {
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

/// The position clamped to the extent. NaN becomes 0.
template <typename C>
PHI_HD AxisPosition<C> clipped(const AxisPosition<C>& place, int64_t extent) {
  const C last = static_cast<C>(extent - 1);
  if (!(place.at > C(0))) return {C(0), C(0)};
  if (place.at >= last) return {last, C(0)};
  return place;
}

template <typename C>
PHI_HD AxisPosition<C> place_of(C coordinate, int64_t extent, const CoordinateMap& placing) {
  const C slope = static_cast<C>(placing.align_corners ? extent - 1 : extent) / C(2);
  const C first = static_cast<C>(extent - 1) / C(2);
  AxisPosition<C> place{first + coordinate * slope, slope};
  if (placing.reflects) place = reflected(place, extent, placing.align_corners);
  return placing.zeros ? place : clipped(place, extent);
}

/// The elements before and after a position along one dim, -1 for one outside of the image, and the
/// distance of the position from the first.
template <typename C>
struct AxisNeighbours {
  int64_t element[2] = {-1, -1};
  C behind = C(0);
  C slope = C(0);
};

template <typename C>
PHI_HD AxisNeighbours<C> between(C coordinate, int64_t extent, const CoordinateMap& placing) {
  const AxisPosition<C> place = place_of(coordinate, extent, placing);
  AxisNeighbours<C> found;
  // Also false for NaN, which counts as outside.
  const bool near = place.at > C(-1) && place.at < static_cast<C>(extent);
  if (!near) return found;
  const auto inside = [=](int64_t i) { return i >= 0 && i < extent ? i : int64_t{-1}; };
  if (placing.nearest) {
    found.element[0] = inside(static_cast<int64_t>(std::round(place.at)));
    return found;
  }
  const C before = std::floor(place.at);
  found.element[0] = inside(static_cast<int64_t>(before));
  found.element[1] = inside(static_cast<int64_t>(before) + 1);
  found.behind = place.at - before;
  found.slope = place.slope;
  return found;
}

/// The extents of one call. With two spatial dims they are [n, c, 1, rows, columns].
struct SamplingShape {
  int spatial;
  int64_t n;
  int64_t c;
  int64_t places;
  int64_t extents[3] = {1, 1, 1};
  int64_t pixels = 1;

  SamplingShape(const Dims& x, const Dims& grid)
      : spatial(x.ndim() - 2), n(x[0]), c(x[1]), places(grid.numel(1, grid.ndim() - 1)) {
    for (int d = 0; d < spatial; ++d) {
      extents[3 - spatial + d] = x[2 + d];
      pixels *= x[2 + d];
    }
  }
  /// The number of elements around a position.
  PHI_HD int corners() const { return 1 << spatial; }
};

/// One of the elements around a position.
template <typename C>
struct Corner {
  int number;
  int64_t offset;  // within the channel
  C weight;
  C slopes[3];  // derivatives of the weight by the coordinate of each image dim
};

/// The elements around one grid position, up to eight, which are the same for all channels.
template <typename C>
struct GridNeighbours {
  AxisNeighbours<C> dims[3];  // dims of the image; with two, the first has one element

  /// `coordinates` of the position, x (the last dim) first.
  template <typename T>
  PHI_HD GridNeighbours(const T* coordinates, const SamplingShape& s,
                        const CoordinateMap& placing) {
    dims[0].element[0] = 0;
    PHI_UNROLL(3)
    for (int d = 0; d < 3; ++d) {
      if (d < s.spatial)
        dims[2 - d] = between(static_cast<C>(coordinates[d]), s.extents[2 - d], placing);
    }
  }
  /// Calls f(Corner) for each element inside the image.
  template <typename F>
  PHI_HD void for_each(const SamplingShape& s, const F& f) const {
    PHI_UNROLL(8)
    for (int number = 0; number < 8; ++number) {
      Corner<C> corner{number, 0, C(0), {}};
      C weight[3];
      C slope[3];
      bool is_inside = true;
      PHI_UNROLL(3)
      for (int d = 0; d < 3; ++d) {
        const int side = number >> (2 - d) & 1;
        const AxisNeighbours<C>& along = dims[d];
        is_inside &= along.element[side] >= 0;
        corner.offset = corner.offset * s.extents[d] + along.element[side];
        weight[d] = side ? along.behind : C(1) - along.behind;
        slope[d] = side ? along.slope : -along.slope;
      }
      if (!is_inside) continue;
      corner.weight = weight[0] * weight[1] * weight[2];
      corner.slopes[0] = slope[0] * weight[1] * weight[2];
      corner.slopes[1] = weight[0] * slope[1] * weight[2];
      corner.slopes[2] = weight[0] * weight[1] * slope[2];
      f(corner);
    }
  }
};

}  // namespace phi::sampling
