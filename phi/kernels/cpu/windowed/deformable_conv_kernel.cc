// Deformable convolution on the CPU (J. Dai et al., 2017; X. Zhu et al., 2019). Each tap of a
// window is read at a place between elements, which an offset selects, and is multiplied by a mask.
// A matmul with the filter follows.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "phi/core/device/scratch_context.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/conv.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/cpu/scratch.h"
#include "phi/kernels/windowed/sliding.h"

namespace phi {
namespace {

/// Elements of the columns of an image.
int64_t columns_size(const DenseTensor& x, const DenseTensor& offset, const DenseTensor& filter) {
  return x.dims()[1] * filter.dims().numel(2, 4) * offset.dims().numel(2, 4);
}

/// A place between the elements of one channel [h, w]; elements outside are zeros.
template <typename C>
class SamplePoint {
 public:
  SamplePoint(C y, C x, int64_t h, int64_t w) {
    if (!(y > C(-1) && y < static_cast<C>(h) && x > C(-1) && x < static_cast<C>(w))) return;
    const C top = std::floor(y);
    const C left = std::floor(x);
    const C dy = y - top;
    const C dx = x - left;
    for (int corner = 0; corner < 4; ++corner) {
      const bool below = corner & 2;
      const bool right = corner & 1;
      const auto row = static_cast<int64_t>(top) + below;
      const auto column = static_cast<int64_t>(left) + right;
      if (row < 0 || row >= h || column < 0 || column >= w) continue;
      const C wy = below ? dy : C(1) - dy;
      const C wx = right ? dx : C(1) - dx;
      corners_[size_++] = {row * w + column, wy * wx, below ? wx : -wx, right ? wy : -wy};
    }
  }
  struct Corner {
    int64_t offset;
    C weight;
    C by_y;  // derivatives of the weight
    C by_x;
  };
  const Corner* begin() const { return corners_.data(); }
  const Corner* end() const { return corners_.data() + size_; }

 private:
  std::array<Corner, 4> corners_;
  int size_ = 0;
};

/// One call. Half-precision arrays are widened once.
template <typename T>
class Deformable {
 public:
  using C = compute_t<T>;

  Deformable(const DenseTensor& x, const DenseTensor& offset, const DenseTensor& filter,
             const DenseTensor* mask, const std::vector<int>& strides,
             const std::vector<int>& paddings, const std::vector<int>& dilations,
             int deformable_groups)
      : n(x.dims()[0]),
        c(x.dims()[1]),
        m(filter.dims()[0]),
        groups(filter.dims()[1] == 0 ? 1 : std::max<int64_t>(c / filter.dims()[1], 1)),
        sliding(sliding_over(x, offset, filter, strides, paddings, dilations)),
        shares_(std::max<int64_t>(c / deformable_groups, 1)),
        places_(deformable_groups * sliding.taps() * sliding.num_positions()),
        x_(&x),
        offset_(&offset),
        filter_(&filter),
        mask_(mask) {}

  int64_t n, c, m, groups;
  Sliding sliding;

  int64_t rows() const { return c / groups * sliding.taps(); }
  int64_t positions() const { return sliding.num_positions(); }
  int64_t places() const { return places_; }
  const C* filter(int64_t group) const { return filter_.data() + group * (m / groups) * rows(); }
  const C* image(int64_t i) const { return x_.data() + i * c * sliding.pixels(); }

  /// Calls f(row of the columns of all channels, position, the channel's offset in the image, the
  /// place where it is read, its weight, its number among the places of an image).
  template <typename F>
  void for_each_tap(int64_t i, F f) const {
    const C* offsets = offset_.data() + 2 * i * places_;
    const C* weights = mask_.data() ? mask_.data() + i * places_ : nullptr;
    const int64_t taps = sliding.taps();
    const int64_t each = positions();
    for (int64_t channel = 0; channel < c; ++channel) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t place = (channel / shares_ * taps + tap) * each;
        const int64_t ty = tap / sliding.window[2].size;
        const int64_t tx = tap % sliding.window[2].size;
        int64_t position = 0;
        for (int64_t oy = 0; oy < sliding.positions[1]; ++oy) {
          for (int64_t ox = 0; ox < sliding.positions[2]; ++ox, ++position) {
            const C y = static_cast<C>(sliding.place(1, oy, ty)) + offsets[2 * place + position];
            const C x =
                static_cast<C>(sliding.place(2, ox, tx)) + offsets[2 * place + each + position];
            f(channel * taps + tap, position, channel * sliding.pixels(),
              SamplePoint<C>(y, x, sliding.image[1], sliding.image[2]),
              weights ? weights[place + position] : C(1), place + position);
          }
        }
      }
    }
  }
  /// Returns the index of a place's y offset among the offsets of its image. The x offset is
  /// positions() elements after it.
  int64_t offset_at(int64_t place) const {
    return 2 * (place / positions() * positions()) + place % positions();
  }
  /// Writes the columns of image i, [c * taps, positions].
  void fill_columns(int64_t i, C* columns) const {
    const C* from = image(i);
    for_each_tap(i, [&](int64_t row, int64_t position, int64_t channel, const SamplePoint<C>& spot,
                        C weight, int64_t) {
      C sum = C(0);
      for (const auto& corner : spot) sum += corner.weight * from[channel + corner.offset];
      columns[row * positions() + position] = weight * sum;
    });
  }

 private:
  static Sliding sliding_over(const DenseTensor& x, const DenseTensor& offset,
                              const DenseTensor& filter, const std::vector<int>& strides,
                              const std::vector<int>& paddings, const std::vector<int>& dilations) {
    const Dims extents{x.dims()[2], x.dims()[3]};
    const Dims sizes{filter.dims()[2], filter.dims()[3]};
    const std::string algorithm = "EXPLICIT";
    return {extents,
            {offset.dims()[2], offset.dims()[3]},
            make_windows(std::span(extents.begin(), extents.end()),
                         std::span(sizes.begin(), sizes.end()),
                         {strides, paddings, algorithm, dilations})};
  }

  int64_t shares_;  // number of channels that share offsets
  int64_t places_;
  ComputeArray<C> x_;
  ComputeArray<C> offset_;
  ComputeArray<C> filter_;
  ComputeArray<C> mask_;
};

/// Sums of a gradient, empty if it is not wanted.
template <typename C>
struct GradientSums {
  std::vector<C> values;
  explicit GradientSums(const DenseTensor* like)
      : values(like ? static_cast<size_t>(like->numel()) : 0, C(0)) {}
  template <typename T>
  void give(DenseTensor* to) const {
    if (to) convert(values.data(), to->mutable_data<T>(), to->numel());
  }
};

}  // namespace

template <typename T, typename Context>
void DeformableConvKernel(const Context&, const DenseTensor& x, const DenseTensor& offset,
                          const DenseTensor& filter, const DenseTensor* mask,
                          const std::vector<int>& strides, const std::vector<int>& paddings,
                          const std::vector<int>& dilations, int deformable_groups, int /*groups*/,
                          DenseTensor* out) {
  using C = compute_t<T>;
  const Deformable<T> d(x, offset, filter, mask, strides, paddings, dilations, deformable_groups);
  const GemmShape shape{.m = d.m / d.groups, .n = d.positions(), .k = d.rows()};
  ScratchVector<C> columns(static_cast<size_t>(columns_size(x, offset, filter)));
  GradientSums<C> sums(out);
  for (int64_t i = 0; i < d.n; ++i) {
    d.fill_columns(i, columns.data());
    for (int64_t g = 0; g < d.groups; ++g) {
      gemm<C>(shape, 1, d.filter(g), shape.k, columns.data() + g * shape.k * shape.n, shape.n, 0,
              sums.values.data() + (i * d.m + g * shape.m) * shape.n, shape.n);
    }
  }
  sums.template give<T>(out);
}

template <typename T, typename Context>
void DeformableConvScratch(const Context& ctx, const DenseTensor& x, const DenseTensor& offset,
                           const DenseTensor& filter, const DenseTensor* /*mask*/,
                           const std::vector<int>& /*strides*/,
                           const std::vector<int>& /*paddings*/,
                           const std::vector<int>& /*dilations*/, int /*deformable_groups*/,
                           int /*groups*/, DenseTensor* /*out*/) {
  const auto elements = static_cast<size_t>(columns_size(x, offset, filter));
  const PlannedScratch::Block columns(ctx.scratch(), elements * sizeof(compute_t<T>));
}

/// Any gradient may be null.
template <typename T, typename Context>
void DeformableConvGradKernel(const Context&, const DenseTensor& x, const DenseTensor& offset,
                              const DenseTensor& filter, const DenseTensor* mask,
                              const DenseTensor& out_grad, const std::vector<int>& strides,
                              const std::vector<int>& paddings, const std::vector<int>& dilations,
                              int deformable_groups, int /*groups*/, DenseTensor* x_grad,
                              DenseTensor* offset_grad, DenseTensor* filter_grad,
                              DenseTensor* mask_grad) {
  using C = compute_t<T>;
  const Deformable<T> d(x, offset, filter, mask, strides, paddings, dilations, deformable_groups);
  const int64_t each = d.positions();
  const int64_t group_m = d.m / d.groups;
  const ComputeArray<C> given(&out_grad);
  ScratchVector<C> columns(static_cast<size_t>(columns_size(x, offset, filter)));
  GradientSums<C> x_sums(x_grad);
  GradientSums<C> offset_sums(offset_grad);
  GradientSums<C> filter_sums(filter_grad);
  GradientSums<C> mask_sums(mask_grad);
  for (int64_t i = 0; i < d.n; ++i) {
    const C* g = given.data() + i * d.m * each;
    if (filter_grad) {
      d.fill_columns(i, columns.data());
      for (int64_t k = 0; k < d.groups; ++k) {
        gemm<C>({.m = group_m, .n = d.rows(), .k = each, .trans_b = true}, 1,
                g + k * group_m * each, each, columns.data() + k * d.rows() * each, each, 1,
                filter_sums.values.data() + k * group_m * d.rows(), d.rows());
      }
    }
    for (int64_t k = 0; k < d.groups; ++k) {
      gemm<C>({.m = d.rows(), .n = each, .k = group_m, .trans_a = true}, 1, d.filter(k), d.rows(),
              g + k * group_m * each, each, 0, columns.data() + k * d.rows() * each, each);
    }
    const C* from = d.image(i);
    d.for_each_tap(i, [&](int64_t row, int64_t position, int64_t channel,
                          const SamplePoint<C>& spot, C weight, int64_t place) {
      const C column = columns[row * each + position];
      C value = C(0);
      C by_y = C(0);
      C by_x = C(0);
      for (const auto& corner : spot) {
        const C element = from[channel + corner.offset];
        value += corner.weight * element;
        by_y += corner.by_y * element;
        by_x += corner.by_x * element;
        if (x_grad) {
          x_sums.values[i * d.c * d.sliding.pixels() + channel + corner.offset] +=
              column * weight * corner.weight;
        }
      }
      if (mask_grad) mask_sums.values[i * d.places() + place] += column * value;
      if (!offset_grad) return;
      C* offsets = offset_sums.values.data() + 2 * i * d.places() + d.offset_at(place);
      offsets[0] += column * weight * by_y;
      offsets[each] += column * weight * by_x;
    });
  }
  x_sums.template give<T>(x_grad);
  offset_sums.template give<T>(offset_grad);
  filter_sums.template give<T>(filter_grad);
  mask_sums.template give<T>(mask_grad);
}

template <typename T, typename Context>
void DeformableConvGradScratch(const Context& ctx, const DenseTensor& x, const DenseTensor& offset,
                               const DenseTensor& filter, const DenseTensor* mask,
                               const DenseTensor& /*out_grad*/, const std::vector<int>& strides,
                               const std::vector<int>& paddings, const std::vector<int>& dilations,
                               int deformable_groups, int groups, DenseTensor* /*x_grad*/,
                               DenseTensor* /*offset_grad*/, DenseTensor* /*filter_grad*/,
                               DenseTensor* /*mask_grad*/) {
  DeformableConvScratch<T>(ctx, x, offset, filter, mask, strides, paddings, dilations,
                           deformable_groups, groups, nullptr);
}

PHI_REGISTER_KERNEL(deformable_conv, CPU, DeformableConvKernel, Floats);
PHI_REGISTER_SCRATCH(deformable_conv, DeformableConvScratch, Floats);
PHI_REGISTER_KERNEL(deformable_conv_grad, CPU, DeformableConvGradKernel, Floats);
PHI_REGISTER_SCRATCH(deformable_conv_grad, DeformableConvGradScratch, Floats);

}  // namespace phi
