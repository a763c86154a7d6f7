// Building blocks of register-resident attention: tiles of 64 rows of half-precision heads of 64 or
// 128 columns in shared memory, 16 rows per warp, and matmuls whose left operand and accumulator
// are in registers. The accumulator of one matmul has the layout of the left operand of the next
// (phi/gpu/tensor_core.h).
#pragma once

#include <cstdint>

#include "phi/gpu/tensor_core.h"
#include "phi/kernels/gpu/attention/attention_tiles.h"

namespace phi::gpu {

inline constexpr float kLog2E = 1.44269504088896340736f;

template <typename T, int kWidth>
struct RegisterTiles {
  using W = operand_t<T>;
  static constexpr int kThreads = 128;
  static constexpr int kEdge = 64;  // rows of a tile
  static constexpr int kStride =
      kWidth + 8;                    // padded: rows of an 8 x 8 matrix are in different banks
  static constexpr int kChunk = 16;  // rows per matmul step
  static constexpr int kChunks = kEdge / kChunk;
  static constexpr int kSteps = kWidth / 16;   // matmul steps over a head's columns
  static constexpr int kColumns = kWidth / 8;  // 8-column accumulator tiles

  /// 16 rows as the left operand.
  using LeftOperand = HalfPair[kSteps][4];
  /// Accumulators of 16 rows: for 16 columns, and for all columns of a head.
  using Chunk = float[2][4];
  using HeadAccumulator = float[kColumns][4];

  struct Tile {
    alignas(16) W rows[kEdge * kStride];

    __device__ const W* chunk(int i) const { return rows + i * kChunk * kStride; }
  };

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
  __device__ static int group() { return lane() / 4; }
  __device__ static int thread() { return lane() % 4; }
  /// First row of this warp.
  __device__ static int band() { return static_cast<int>(threadIdx.x) / kWarp * kChunk; }

  /// A thread's share of a tile while it is copied from global to shared memory: all of it, or one
  /// of kParts to save registers.
  template <int kParts>
  class PartialTileLoader {
   public:
    /// Loads `rows` rows from `first` on. Rows after them are zero.
    __device__ void fetch(const HeadRows<T>& from, int64_t first, int64_t rows, int part = 0) {
      const T* const begin = from.first + first * from.stride + column();
      PHI_UNROLL(8)
      for (int i = 0; i < kOwn; ++i) {
        const int r = row(part * kOwn + i);
        vectors_[i] =
            r < rows ? *reinterpret_cast<const uint4*>(begin + r * from.stride) : uint4{0, 0, 0, 0};
      }
    }
    __device__ void put(Tile& tile, int part = 0) const {
      PHI_UNROLL(8)
      for (int i = 0; i < kOwn; ++i) {
        W* const to = tile.rows + row(part * kOwn + i) * kStride + column();
        *reinterpret_cast<uint4*>(to) = vectors_[i];
      }
    }

   private:
    static constexpr int kVector = 8;  // elements per 16 bytes
    static constexpr int kRowVectors = kWidth / kVector;
    static constexpr int kOwn = kEdge * kRowVectors / kThreads / kParts;
    __device__ static int row(int i) {
      return (i * kThreads + static_cast<int>(threadIdx.x)) / kRowVectors;
    }
    __device__ static int column() { return static_cast<int>(threadIdx.x) % kRowVectors * kVector; }
    uint4 vectors_[kOwn];
  };
  using TileLoader = PartialTileLoader<1>;

  /// Copies a whole tile, part by part.
  __device__ static void copy(const HeadRows<T>& from, int64_t first, int64_t rows, Tile& tile) {
    constexpr int kParts = 4;
    PHI_UNROLL(1)
    for (int part = 0; part < kParts; ++part) {
      PartialTileLoader<kParts> loader;
      loader.fetch(from, first, rows, part);
      loader.put(tile, part);
    }
  }

  /// Loads the warp's rows of a tile as a left operand.
  __device__ static void load_left(const Tile& tile, LeftOperand& left) {
    const W* const row = tile.rows + (band() + lane() % 16) * kStride + lane() / 16 * 8;
    PHI_UNROLL(8)
    for (int k = 0; k < kSteps; ++k) load_matrices(row + k * 16, left[k]);
  }

  /// Loads the warp's rows of two arrays, through tiles that the block no longer needs.
  __device__ static void load_both(const HeadRows<T>& first, const HeadRows<T>& second,
                                   int64_t rows, Tile& of_first, Tile& of_second, LeftOperand& left,
                                   LeftOperand& other) {
    TileLoader loader;
    loader.fetch(first, 0, rows);
    __syncthreads();
    loader.put(of_first);
    loader.fetch(second, 0, rows);
    loader.put(of_second);
    __syncthreads();
    load_left(of_first, left);
    load_left(of_second, other);
  }

  template <int kTiles>
  __device__ static void clear(float (&sums)[kTiles][4]) {
    PHI_UNROLL(16)
    for (int n = 0; n < kTiles; ++n) {
      PHI_UNROLL(4)
      for (int e = 0; e < 4; ++e) sums[n][e] = 0;
    }
  }

  /// sums += left times the transpose of 16 rows.
  __device__ static void multiply(const LeftOperand& left, const W* rows, Chunk& sums) {
    const int l = lane();
    const W* const row = rows + (l % 8 + l / 16 * 8) * kStride + l / 8 % 2 * 8;
    PHI_UNROLL(8)
    for (int k = 0; k < kSteps; ++k) {
      HalfPair right[4];
      load_matrices(row + k * 16, right);
      multiply_accumulate<W>(left[k], right[0], right[1], sums[0]);
      multiply_accumulate<W>(left[k], right[2], right[3], sums[1]);
    }
  }

  /// sums += factors [16, 16] times 16 rows.
  __device__ static void add_rows(const Chunk& factors, const W* rows, HeadAccumulator& sums) {
    const W* const row = rows + lane() % 16 * kStride + lane() / 16 * 8;
    const HalfPair left[4] = {
        pair_of<W>(factors[0][0], factors[0][1]), pair_of<W>(factors[0][2], factors[0][3]),
        pair_of<W>(factors[1][0], factors[1][1]), pair_of<W>(factors[1][2], factors[1][3])};
    PHI_UNROLL(8)
    for (int n = 0; n < kColumns; n += 2) {
      HalfPair right[4];
      load_transposed_matrices(row + n * 8, right);
      multiply_accumulate<W>(left, right[0], right[1], sums[n]);
      multiply_accumulate<W>(left, right[2], right[3], sums[n + 1]);
    }
  }

  /// Writes this lane's part of row group() + 8 half, multiplied by `factor`.
  __device__ static void write_row(const HeadAccumulator& sums, int half, float factor, T* row) {
    HalfPair* const to = reinterpret_cast<HalfPair*>(row) + thread();
    PHI_UNROLL(16)
    for (int n = 0; n < kColumns; ++n)
      to[n * 4] = pair_of<W>(sums[n][2 * half] * factor, sums[n][2 * half + 1] * factor);
  }
};

/// Whether dtype, widths, strides and alignment permit register-resident attention.
template <typename T, typename... Arrays>
bool fit_registers(const AttentionShape& shape, const Arrays*... arrays) {
  return kIs16Bit<T> && (shape.width == 64 || shape.width == 128) &&
         shape.value_width == shape.width &&
         (... && (reinterpret_cast<uintptr_t>(arrays) % 16 == 0));
}

}  // namespace phi::gpu
