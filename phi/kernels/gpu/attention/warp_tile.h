// WarpTile: a 16 x 16 accumulator that is distributed over the lanes of a warp. Matmuls of matrices
// in shared memory are added to it, on tensor cores for half precision, else by the lanes.
//
//   WarpTile<W> sums;
//   sums.multiply_accumulate<TileLayout::kRows, TileLayout::kColumns>(a, a_stride, b, b_stride,
//                                                                     depth);
//   const TileCoordinates<W> places;
//   for (int i = 0; i < kTileOfLane; ++i) out[places.row(i) * stride + places.column(i)] = sums[i];
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>
#include <type_traits>

#include "phi/kernels/functors/hd.h"
#include "phi/kernels/gpu/shuffle.h"

namespace phi::gpu {

/// The type that represents elements of T in shared memory, whose types must have no constructor,
/// and in matmuls.
template <typename T>
struct OperandOf {
  using type = T;
};
template <>
struct OperandOf<float16> {
  using type = __half;
};
template <>
struct OperandOf<bfloat16> {
  using type = __nv_bfloat16;
};
template <typename T>
using operand_t = typename OperandOf<T>::type;

inline constexpr int kTileEdge = 16;
inline constexpr int kTileOfLane = kTileEdge * kTileEdge / kWarp;  // elements per lane

/// Element (r, c) of a matrix is at r * stride + c (kRows) or c * stride + r (kColumns).
enum class TileLayout { kRows, kColumns };

/// Accumulator on tensor cores. The mapping of elements to lanes depends on the GPU and is the same
/// for all accumulators.
template <typename W>
class TensorCoreTile {
 public:
  __device__ TensorCoreTile() { clear(); }
  __device__ void clear() { nvcuda::wmma::fill_fragment(sums_, 0.0f); }
  __device__ float& operator[](int i) { return sums_.x[i]; }

  /// Adds left [16, depth] times right [depth, 16]. `depth` must be a multiple of 16, strides of 8,
  /// and addresses of 32 bytes. All lanes take part.
  template <TileLayout kLeft, TileLayout kRight>
  __device__ void multiply_accumulate(const W* left, int left_stride, const W* right,
                                      int right_stride, int depth) {
    using nvcuda::wmma::matrix_a;
    using nvcuda::wmma::matrix_b;
    constexpr int n = kTileEdge;
    nvcuda::wmma::fragment<matrix_a, n, n, n, W, WmmaLayout<kLeft>> a;
    nvcuda::wmma::fragment<matrix_b, n, n, n, W, WmmaLayout<kRight>> b;
    PHI_UNROLL(4)
    for (int k = 0; k < depth; k += n) {
      const int left_at = kLeft == TileLayout::kRows ? k : k * left_stride;
      const int right_at = kRight == TileLayout::kRows ? k * right_stride : k;
      nvcuda::wmma::load_matrix_sync(a, left + left_at, static_cast<unsigned>(left_stride));
      nvcuda::wmma::load_matrix_sync(b, right + right_at, static_cast<unsigned>(right_stride));
      nvcuda::wmma::mma_sync(sums_, a, b, sums_);
    }
  }

 private:
  friend class TensorCoreCoordinates;
  template <TileLayout kLayout>
  using WmmaLayout = std::conditional_t<kLayout == TileLayout::kRows, nvcuda::wmma::row_major,
                                        nvcuda::wmma::col_major>;
  using AccumulatorFragment =
      nvcuda::wmma::fragment<nvcuda::wmma::accumulator, kTileEdge, kTileEdge, kTileEdge, float>;
  static_assert(AccumulatorFragment::num_elements == kTileOfLane);
  AccumulatorFragment sums_;
};

/// The elements of a tile that this lane has, found by loading a tile of index numbers. They stay
/// in shared memory, because keeping them and values derived from them in registers causes spills.
/// All threads of the block must take part in the construction.
class TensorCoreCoordinates {
 public:
  __device__ TensorCoreCoordinates() {
    __shared__ ElementNumbers numbers;
    __shared__ uint8_t places[kElements];
    for (int i = static_cast<int>(threadIdx.x); i < kElements; i += static_cast<int>(blockDim.x))
      numbers.of_elements[i] = static_cast<float>(i);
    __syncthreads();
    TensorCoreTile<__half>::AccumulatorFragment tile;
    nvcuda::wmma::load_matrix_sync(tile, numbers.of_elements, kTileEdge,
                                   nvcuda::wmma::mem_row_major);
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    if (static_cast<int>(threadIdx.x) < kWarp) {
      PHI_UNROLL(8)
      for (int i = 0; i < kTileOfLane; ++i)
        places[lane * kTileOfLane + i] = static_cast<uint8_t>(tile.x[i]);
    }
    __syncthreads();
    of_lane_ = places + lane * kTileOfLane;
  }
  __device__ int row(int i) const { return of_lane_[i] / kTileEdge; }
  __device__ int column(int i) const { return of_lane_[i] % kTileEdge; }

 private:
  static constexpr int kElements = kTileEdge * kTileEdge;
  struct alignas(32) ElementNumbers {
    float of_elements[kElements];
  };
  const uint8_t* of_lane_;
};

/// The elements of a SimtTile that this lane has: half a row.
class SimtCoordinates {
 public:
  __device__ static int row(int) { return lane() / kLanesOfRow; }
  __device__ static int column(int i) { return lane() % kLanesOfRow * kTileOfLane + i; }

 private:
  static constexpr int kLanesOfRow = kTileEdge / kTileOfLane;
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
};

template <typename W>
class SimtTile {
 public:
  __device__ SimtTile() { clear(); }
  __device__ void clear() {
    PHI_UNROLL(8)
    for (int i = 0; i < kTileOfLane; ++i) sums_[i] = 0;
  }
  __device__ W& operator[](int i) { return sums_[i]; }

  /// Same as TensorCoreTile::multiply_accumulate, without the conditions on depth, strides and
  /// addresses.
  template <TileLayout kLeft, TileLayout kRight>
  __device__ void multiply_accumulate(const W* left, int left_stride, const W* right,
                                      int right_stride, int depth) {
    const int row = SimtCoordinates::row(0);
    const int column = SimtCoordinates::column(0);
    PHI_UNROLL(1)
    for (int k = 0; k < depth; ++k) {
      const W a = left[kLeft == TileLayout::kRows ? row * left_stride + k : k * left_stride + row];
      PHI_UNROLL(8)
      for (int i = 0; i < kTileOfLane; ++i) {
        const int c = column + i;
        sums_[i] +=
            a * right[kRight == TileLayout::kRows ? k * right_stride + c : c * right_stride + k];
      }
    }
  }

 private:
  W sums_[kTileOfLane];
};

template <typename W>
using WarpTile = std::conditional_t<sizeof(W) == 2, TensorCoreTile<W>, SimtTile<W>>;
template <typename W>
using TileCoordinates = std::conditional_t<sizeof(W) == 2, TensorCoreCoordinates, SimtCoordinates>;

}  // namespace phi::gpu
