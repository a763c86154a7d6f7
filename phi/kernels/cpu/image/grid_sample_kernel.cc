// grid_sample on the CPU: samples images at places between their elements, by the nearest element
// or by linear interpolation, in two or three dims, with both gradients.
//
// A rank has whole images of some channels, and some of the places. Gradients that sum over places
// or channels on other ranks are partial sums.
//
// Images are transposed to channels last. The elements around a place are then four or eight
// contiguous rows, and all channels of a row have the same weight.
#include <algorithm>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/cpu/scratch.h"
#include "phi/kernels/cpu/transpose_matrix.h"
#include "phi/kernels/image/sampling.h"

namespace phi {
namespace {

using sampling::CoordinateMap;
using sampling::Corner;
using sampling::GridNeighbours;
using sampling::SamplingShape;

/// Number of places that are sampled at a time.
constexpr int64_t kSampleBlock = 64;

/// Calls f(first, count) for blocks of all places of an image.
template <typename F>
void for_each_sample_block(const SamplingShape& s, F f) {
  for (int64_t begin = 0; begin < s.places; begin += kSampleBlock)
    f(begin, std::min(kSampleBlock, s.places - begin));
}

/// Allocates a channels-last image. The last pixel is followed by one of zeros, which represents
/// all places outside.
template <typename C>
ScratchVector<C> turned_image(const SamplingShape& s) {
  return ScratchVector<C>(static_cast<size_t>((s.pixels + 1) * s.c), C(0));
}

/// The elements around a place, as rows of a channels-last image. Elements outside use the row of
/// zeros.
template <int kCorners, typename C>
struct CornerRows {
  int64_t offset[kCorners];
  C weight[kCorners];
  C slopes[kCorners][3];

  CornerRows(const C* coordinates, const SamplingShape& s, const CoordinateMap& placing) {
    for (int k = 0; k < kCorners; ++k) {
      offset[k] = s.pixels * s.c;
      weight[k] = C(0);
      for (C& slope : slopes[k]) slope = C(0);
    }
    GridNeighbours<C>(coordinates, s, placing).for_each(s, [&](const Corner<C>& corner) {
      const int k = corner.number % kCorners;
      offset[k] = corner.offset * s.c;
      weight[k] = corner.weight;
      for (int d = 0; d < 3; ++d) slopes[k][d] = corner.slopes[d];
    });
  }
};

/// Samples a channels-last image at `count` places to [count, c].
template <int kCorners, typename C>
void sample(const SamplingShape& s, const CoordinateMap& placing, int64_t count,
            const C* coordinates, const C* image, C* to) {
  run_best_isa<C>([=] {
    for (int64_t p = 0; p < count; ++p) {
      const CornerRows<kCorners, C> around(coordinates + p * s.spatial, s, placing);
#pragma GCC ivdep
      for (int64_t c = 0; c < s.c; ++c) {
        C sum = C(0);
#pragma GCC unroll 8
        for (int k = 0; k < kCorners; ++k) sum += around.weight[k] * image[around.offset[k] + c];
        to[p * s.c + c] = sum;
      }
    }
  });
}

/// Samples an image that is not transposed, to [c, places]. Used if there are too few places to pay
/// for the transposition.
template <typename C>
void sample_planes(const SamplingShape& s, const CoordinateMap& placing, const C* coordinates,
                   const C* image, C* to) {
  std::vector<C> sums(static_cast<size_t>(s.c));
  for (int64_t p = 0; p < s.places; ++p) {
    std::ranges::fill(sums, C(0));
    GridNeighbours<C>(coordinates + p * s.spatial, s, placing)
        .for_each(s, [&](const Corner<C>& corner) {
          for (int64_t c = 0; c < s.c; ++c)
            sums[c] += corner.weight * image[c * s.pixels + corner.offset];
        });
    for (int64_t c = 0; c < s.c; ++c) to[c * s.places + p] = sums[c];
  }
}

/// Returns the sum of term(i) for i < n. Uses few lanes because rows are short.
template <typename C, typename Term>
inline C short_row_sum(int64_t n, Term term) {
  constexpr int kLanes = 8;
  C lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  C half[4];
#pragma GCC unroll 1
  for (int lane = 0; lane < 4; ++lane) half[lane] = lanes[lane] + lanes[lane + 4];
  C sum = (half[0] + half[1]) + (half[2] + half[3]);
  for (; i < n; ++i) sum += term(i);
  return sum;
}

/// Adds the gradients `given` [count, c] of places to the gradient of a channels-last image.
template <int kCorners, typename C>
void add_image_grads(const SamplingShape& s, const CoordinateMap& placing, int64_t count,
                     const C* coordinates, const C* given, C* image_grad) {
  run_best_isa<C>([=] {
    for (int64_t p = 0; p < count; ++p) {
      const CornerRows<kCorners, C> around(coordinates + p * s.spatial, s, placing);
      for (int k = 0; k < kCorners; ++k) {
        C* sums = image_grad + around.offset[k];
#pragma GCC ivdep
        for (int64_t c = 0; c < s.c; ++c) sums[c] += around.weight[k] * given[p * s.c + c];
      }
    }
  });
}

/// Computes grid_grad [count, spatial] from a channels-last image.
template <int kCorners, typename C>
void make_grid_grads(const SamplingShape& s, const CoordinateMap& placing, int64_t count,
                     const C* coordinates, const C* given, const C* image, C* grid_grad) {
  run_best_isa<C>([=] {
    for (int64_t p = 0; p < count; ++p) {
      const CornerRows<kCorners, C> around(coordinates + p * s.spatial, s, placing);
      for (int d = 0; d < s.spatial; ++d) {
        C slopes[kCorners];
        for (int k = 0; k < kCorners; ++k) slopes[k] = around.slopes[k][2 - d];
        grid_grad[p * s.spatial + d] = short_row_sum<C>(s.c, [&](int64_t c) {
          C slope = C(0);
#pragma GCC unroll 8
          for (int k = 0; k < kCorners; ++k) slope += slopes[k] * image[around.offset[k] + c];
          return given[p * s.c + c] * slope;
        });
      }
    }
  });
}

template <int kCorners, typename T>
void sample_images(const SamplingShape& s, const CoordinateMap& placing, const T* x,
                   const compute_t<T>* coordinates, T* out) {
  using C = compute_t<T>;
  RowReader<T> images(x, s.c * s.pixels);
  RowWriter<T> samples(out, s.c * s.places);
  const bool are_few = s.places * kCorners < s.pixels;
  ScratchVector<C> image = are_few ? ScratchVector<C>() : turned_image<C>(s);
  std::vector<C> block(static_cast<size_t>(kSampleBlock * s.c));
  for (int64_t i = 0; i < s.n; ++i, coordinates += s.places * s.spatial) {
    C* to = samples.row(i);
    if (are_few) {
      sample_planes(s, placing, coordinates, images.row(i), to);
    } else {
      transpose_matrix(images.row(i), s.pixels, image.data(), s.c, s.c, s.pixels);
      for_each_sample_block(s, [&](int64_t begin, int64_t count) {
        sample<kCorners>(s, placing, count, coordinates + begin * s.spatial, image.data(),
                         block.data());
        transpose_matrix(block.data(), s.c, to + begin, s.places, count, s.c);
      });
    }
    samples.done(i);
  }
}

/// Computes x_grad, unless it is null.
template <int kCorners, typename T>
void make_image_grads(const SamplingShape& s, const CoordinateMap& placing,
                      const compute_t<T>* coordinates, const T* out_grad, T* x_grad) {
  using C = compute_t<T>;
  if (!x_grad) return;
  RowReader<T> grads(out_grad, s.c * s.places);
  RowWriter<T> image_grads(x_grad, s.c * s.pixels);
  ScratchVector<C> sums = turned_image<C>(s);
  std::vector<C> block(static_cast<size_t>(kSampleBlock * s.c));
  for (int64_t i = 0; i < s.n; ++i, coordinates += s.places * s.spatial) {
    const C* given = grads.row(i);
    std::ranges::fill(sums, C(0));
    for_each_sample_block(s, [&](int64_t begin, int64_t count) {
      transpose_matrix(given + begin, s.places, block.data(), s.c, s.c, count);
      add_image_grads<kCorners>(s, placing, count, coordinates + begin * s.spatial, block.data(),
                                sums.data());
    });
    transpose_matrix(sums.data(), s.c, image_grads.row(i), s.pixels, s.pixels, s.c);
    image_grads.done(i);
  }
}

/// Computes grid_grad, unless it is null.
template <int kCorners, typename T>
void make_all_grid_grads(const SamplingShape& s, const CoordinateMap& placing, const T* x,
                         const compute_t<T>* coordinates, const T* out_grad, T* grid_grad) {
  using C = compute_t<T>;
  if (!grid_grad) return;
  RowReader<T> images(x, s.c * s.pixels);
  RowReader<T> grads(out_grad, s.c * s.places);
  RowWriter<T> grid_grads(grid_grad, s.places * s.spatial);
  ScratchVector<C> image = turned_image<C>(s);
  std::vector<C> block(static_cast<size_t>(kSampleBlock * s.c));
  for (int64_t i = 0; i < s.n; ++i, coordinates += s.places * s.spatial) {
    const C* given = grads.row(i);
    C* to = grid_grads.row(i);
    transpose_matrix(images.row(i), s.pixels, image.data(), s.c, s.c, s.pixels);
    for_each_sample_block(s, [&](int64_t begin, int64_t count) {
      transpose_matrix(given + begin, s.places, block.data(), s.c, s.c, count);
      make_grid_grads<kCorners>(s, placing, count, coordinates + begin * s.spatial, block.data(),
                                image.data(), to + begin * s.spatial);
    });
    grid_grads.done(i);
  }
}

}  // namespace

template <typename T, typename Context>
void GridSampleKernel(const Context&, const DenseTensor& x, const DenseTensor& grid,
                      const std::string& mode, const std::string& padding_mode, bool align_corners,
                      DenseTensor* out) {
  const SamplingShape s(x.dims(), grid.dims());
  const CoordinateMap placing(mode, padding_mode, align_corners);
  const ComputeArray<compute_t<T>> coordinates(&grid);
  const auto sample_all = s.spatial == 2 ? sample_images<4, T> : sample_images<8, T>;
  sample_all(s, placing, x.data<T>(), coordinates.data(), out->mutable_data<T>());
}

template <typename T, typename Context>
void GridSampleGradKernel(const Context&, const DenseTensor& x, const DenseTensor& grid,
                          const DenseTensor& out_grad, const std::string& mode,
                          const std::string& padding_mode, bool align_corners, DenseTensor* x_grad,
                          DenseTensor* grid_grad) {
  const SamplingShape s(x.dims(), grid.dims());
  const CoordinateMap placing(mode, padding_mode, align_corners);
  const ComputeArray<compute_t<T>> coordinates(&grid);
  T* to_image = x_grad ? x_grad->mutable_data<T>() : nullptr;
  T* to_grid = grid_grad ? grid_grad->mutable_data<T>() : nullptr;
  const auto make_image = s.spatial == 2 ? make_image_grads<4, T> : make_image_grads<8, T>;
  const auto make_grid = s.spatial == 2 ? make_all_grid_grads<4, T> : make_all_grid_grads<8, T>;
  make_image(s, placing, coordinates.data(), out_grad.data<T>(), to_image);
  make_grid(s, placing, x.data<T>(), coordinates.data(), out_grad.data<T>(), to_grid);
}

PHI_REGISTER_KERNEL(grid_sample, CPU, GridSampleKernel, Floats);
PHI_REGISTER_KERNEL(grid_sample_grad, CPU, GridSampleGradKernel, Floats);

}  // namespace phi
