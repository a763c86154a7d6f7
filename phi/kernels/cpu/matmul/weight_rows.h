// Rows of x times rows of a narrow matrix (8-bit weights or 16-bit floats), which is read once and
// widened to float in registers. With few rows of x, reading the matrix dominates, and a byte is a
// quarter of a float.
//
//   RowDotProducts<4, float> products;
//   add_row_dot_products(k, x, k, weight + c * k, scales[c], &products);
#pragma once

#include <cstdint>

namespace phi {

/// Rows of x per call of add_row_dot_products: their sums fill AVX-512's registers.
inline constexpr int kWeightRows = 4;
/// Weights per step: the bytes of an AVX-512 register. g++ 12 does not vectorise shorter loops that
/// widen bytes. The rest is multiplied element by element.
inline constexpr int kWeightLanes = 64;

/// Dot products of kRows rows of x with one row of the weight. They stay in lanes until sum().
template <int kRows, typename C>
struct RowDotProducts {
  static constexpr int kLanes = kWeightLanes / 4;
  C lanes[kRows][kLanes] = {};
  C rest[kRows] = {};

  /// Folds by halves. Not unrolled: g++ 12 does not vectorise loops that it has unrolled.
  C sum(int row) const {
    C half[kLanes / 2];
#pragma GCC unroll 1
    for (int lane = 0; lane < 8; ++lane) half[lane] = lanes[row][lane] + lanes[row][lane + 8];
#pragma GCC unroll 1
    for (int lane = 0; lane < 4; ++lane) half[lane] += half[lane + 4];
    return (half[0] + half[1]) + (half[2] + half[3]) + rest[row];
  }
};

/// Adds scale times the dot products of k elements of each row of x with `weight`.
template <int kRows, typename C, typename W>
inline void add_row_dot_products(int64_t k, const C* x, int64_t ldx, const W* weight, C scale,
                                 RowDotProducts<kRows, C>* products) {
  int64_t i = 0;
  if (k >= kWeightLanes) {
    C lanes[kRows][kWeightLanes];  // first set to products, since clearing costs as much
    C wide[kWeightLanes];
    for (int lane = 0; lane < kWeightLanes; ++lane) wide[lane] = static_cast<C>(weight[lane]);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      for (int lane = 0; lane < kWeightLanes; ++lane)
        lanes[r][lane] = wide[lane] * x[r * ldx + lane];
    }
    for (i = kWeightLanes; i + kWeightLanes <= k; i += kWeightLanes) {
      for (int lane = 0; lane < kWeightLanes; ++lane) wide[lane] = static_cast<C>(weight[i + lane]);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        for (int lane = 0; lane < kWeightLanes; ++lane)
          lanes[r][lane] += wide[lane] * x[r * ldx + i + lane];
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const C* l = lanes[r];
#pragma GCC unroll 1
      for (int lane = 0; lane < 16; ++lane)
        products->lanes[r][lane] +=
            scale * ((l[lane] + l[lane + 16]) + (l[lane + 32] + l[lane + 48]));
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    C rest = C(0);
    for (int64_t j = i; j < k; ++j) rest += static_cast<C>(weight[j]) * x[r * ldx + j];
    products->rest[r] += scale * rest;
  }
}

}  // namespace phi
