// Pooling windows on a GPU: the elements that a window covers, and the windows that cover an
// element. Gradients are gathered per element from its windows, in the order of the windows.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "phi/gpu/index_space.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/gpu/data_movement/move.h"
#include "phi/kernels/windowed/pool_folds.h"
#include "phi/kernels/windowed/pool_images.h"

namespace phi::gpu {

/// The windows [begin, end) along a dim that cover one element.
struct WindowRange {
  int32_t begin;
  int32_t end;
};

/// The windows along one spatial dim, in GPU memory.
struct PoolAxis {
  int64_t extent;
  int64_t windows;
  const int64_t* ranges;    // [windows, 3]: begin, end, padded
  const int32_t* covering;  // [extent, 2]

  __device__ int64_t begin(int64_t window) const { return ranges[3 * window]; }
  __device__ int64_t end(int64_t window) const { return ranges[3 * window + 1]; }
  __device__ int64_t padded(int64_t window) const { return ranges[3 * window + 2]; }
  __device__ int64_t size(int64_t window) const { return end(window) - begin(window); }
  __device__ WindowRange windows_covering(int64_t element) const {
    return {covering[2 * element], covering[2 * element + 1]};
  }
};

struct PoolWindows {
  int64_t inner;  // channels, if they are innermost; else 1
  PoolAxis axis[3];
  IndexSpace<4> outputs;   // coordinates of an output: [windows.., inner]
  IndexSpace<4> elements;  // coordinates of an element: [extents.., inner]

  __device__ int64_t image_size() const {
    return axis[0].extent * axis[1].extent * axis[2].extent * inner;
  }
  __device__ int64_t output_size() const {
    return axis[0].windows * axis[1].windows * axis[2].windows * inner;
  }
  /// Number of elements by which the window's average divides.
  __device__ int64_t count(int64_t z, int64_t y, int64_t x, bool padded) const {
    if (padded) return axis[0].padded(z) * axis[1].padded(y) * axis[2].padded(x);
    return axis[0].size(z) * axis[1].size(y) * axis[2].size(x);
  }
};

/// Windows of images, and the arrays that store them. Begins and ends of windows ascend, so the
/// windows that cover an element are consecutive.
class DeviceWindows {
 public:
  DeviceWindows(const GpuContext& ctx, const PoolImages& images) {
    windows_.inner = images.inner;
    for (size_t d = 0; d < 3; ++d) {
      const PoolRanges& ranges = images.ranges[d];
      std::vector<int64_t> all;
      for (const PoolRange& range : ranges)
        all.insert(all.end(), {range.begin, range.end, range.padded});
      std::vector<int32_t> covering;
      for (int64_t i = 0; i < images.extents[d]; ++i) {
        const auto first = std::ranges::find_if(ranges, [&](const auto& r) { return r.end > i; });
        const auto last =
            std::find_if(first, ranges.end(), [&](const auto& r) { return r.begin > i; });
        covering.push_back(static_cast<int32_t>(first - ranges.begin()));
        covering.push_back(static_cast<int32_t>(last - ranges.begin()));
      }
      arrays_.push_back(array_from_host(ctx, all.data(), all.size()));
      const auto* const of_windows = arrays_.back().data<int64_t>();
      arrays_.push_back(array_from_host(ctx, covering.data(), covering.size()));
      windows_.axis[d] = {images.extents[d], images.windows(static_cast<int>(d)), of_windows,
                          arrays_.back().data<int32_t>()};
    }
    const auto& [z, y, x] = windows_.axis;
    windows_.outputs = IndexSpace<4>({z.windows, y.windows, x.windows, images.inner});
    windows_.elements = IndexSpace<4>({z.extent, y.extent, x.extent, images.inner});
  }
  const PoolWindows& get() const { return windows_; }

 private:
  PoolWindows windows_{};
  std::vector<DenseTensor> arrays_;
};

/// Coordinates of an output or an element: its image, spatial indices and channel.
struct PoolCoordinates {
  int64_t image;
  int64_t at[3];
  int64_t channel;

  __device__ PoolCoordinates(const IndexSpace<4>& space, int64_t i) {
    const auto place = space.place(i);
    image = place.outer;
    PHI_UNROLL(3)
    for (int d = 0; d < 3; ++d) at[d] = place.along[d];
    channel = place.along[3];
  }
};
__device__ inline PoolCoordinates output_place(const PoolWindows& w, int64_t i) {
  return {w.outputs, i};
}
__device__ inline PoolCoordinates element_place(const PoolWindows& w, int64_t i) {
  return {w.elements, i};
}

/// Calls f(offset within the image) for each element of a window.
template <typename F>
__device__ void for_each_element(const PoolWindows& w, const PoolCoordinates& p, const F& f) {
  for (int64_t z = w.axis[0].begin(p.at[0]); z < w.axis[0].end(p.at[0]); ++z) {
    for (int64_t y = w.axis[1].begin(p.at[1]); y < w.axis[1].end(p.at[1]); ++y) {
      for (int64_t x = w.axis[2].begin(p.at[2]); x < w.axis[2].end(p.at[2]); ++x)
        f(((z * w.axis[1].extent + y) * w.axis[2].extent + x) * w.inner + p.channel);
    }
  }
}

/// Maximum of a window and its offset in the image; the first of equal elements. A window without
/// elements has the lowest number and offset -1.
template <typename C>
struct LargestOfWindow {
  C most = std::numeric_limits<C>::lowest();
  int64_t place = -1;

  template <typename T>
  __device__ LargestOfWindow(const PoolWindows& w, int64_t output, const T* x) {
    const PoolCoordinates p = output_place(w, output);
    const T* const image = x + p.image * w.image_size();
    for_each_element(w, p, [&](int64_t at) {
      const auto value = static_cast<C>(image[at]);
      if (place >= 0 && !is_larger(value, most)) return;
      most = value;
      place = at;
    });
  }
};

/// A window that covers the element: its output, its indices, and the element.
struct CoveringWindow {
  int64_t output;
  int64_t window[3];
  int64_t in_image;  // offset of the element in its image
  int64_t element;   // offset of the element in the array
};

/// Sums term(windows, CoveringWindow) over the windows that cover an element.
template <typename T, typename Term>
struct SumOverWindows {
  using C = compute_t<T>;
  PoolWindows windows;
  Term term;
  __device__ T operator()(int64_t i) const {
    const PoolCoordinates p = element_place(windows, i);
    const int64_t own = i - p.image * windows.image_size();
    const WindowRange depth = windows.axis[0].windows_covering(p.at[0]);
    const WindowRange height = windows.axis[1].windows_covering(p.at[1]);
    const WindowRange width = windows.axis[2].windows_covering(p.at[2]);
    C sum = 0;
    for (int64_t z = depth.begin; z < depth.end; ++z) {
      for (int64_t y = height.begin; y < height.end; ++y) {
        for (int64_t x = width.begin; x < width.end; ++x) {
          const int64_t row = (z * windows.axis[1].windows + y) * windows.axis[2].windows + x;
          const int64_t output = p.image * windows.output_size() + row * windows.inner + p.channel;
          sum += term(windows, CoveringWindow{output, {z, y, x}, own, i});
        }
      }
    }
    return static_cast<T>(sum);
  }
};

}  // namespace phi::gpu
