// Attention of 16-bit heads of 64 or 128 columns, without mask, dropout and written weights: the
// quick way, in which scores and weights stay in the registers of the warp that makes them. The
// sums of one product lie as the left side of the next is to lie (phi/gpu/tensor_core.h).
//
// T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023:
// a block takes 64 queries of a head, a warp 16 of them with all columns.
#pragma once

#include <cmath>
#include <limits>

#include "phi/gpu/tensor_core.h"
#include "phi/kernels/gpu/attention/attention_tiles.h"

namespace phi::gpu {

template <typename T, int kWidth>
struct KeysAndValues {
  using W = operand_t<T>;
  static constexpr int kEdge = 64;            // keys; queries
  static constexpr int kStride = kWidth + 8;  // no two rows of a matrix of 8 x 8 share a bank
  alignas(16) W keys[kEdge * kStride];        // at first of queries
  alignas(16) W values[kEdge * kStride];
};

template <typename T, int kWidth>
class AttentionInRegisters {
 public:
  using W = operand_t<T>;
  using Memory = KeysAndValues<T, kWidth>;
  static constexpr int kEdge = Memory::kEdge;
  static constexpr int kThreads = 128;

  __device__ AttentionInRegisters(const AttentionShape& shape, Memory& memory)
      : shape_(shape), memory_(memory) {}

  /// The queries from `begin` on of a head.
  __device__ void run(const T* q, const T* k, const T* v, T* out, float* lse, int64_t b, int64_t h,
                      int64_t begin) {
    const int64_t rows = shape_.sq - begin;
    const int64_t key_rows = shape_.key_batch(b) * shape_.sk;
    const HeadRows<T> queries(q, b * shape_.sq + begin, shape_.heads, h, kWidth);
    const HeadRows<T> keys(k, key_rows, shape_.kv_heads, shape_.key_head(h), kWidth);
    const HeadRows<T> values(v, key_rows, shape_.kv_heads, shape_.key_head(h), kWidth);
    load_queries(queries, rows);
    const int64_t last = begin + (rows < kEdge ? rows : kEdge) - 1;
    attend(keys, values, shape_.keys(b), shape_.visible_keys(b, last), b, begin + band());
    const int64_t first = begin + band() + group();
    const int64_t end = begin + rows;
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      const int64_t query = first + 8 * half;
      if (query < end) finish(half, (b * shape_.sq + query) * shape_.heads + h, out);
      if (query < end && thread() == 0 && lse)
        lse[shape_.row_of(b, h, query)] = most_[half] * scale() + std::log(total_[half]);
    }
  }

 private:
  static constexpr int kSteps = kWidth / 16;   // of products over a head's columns
  static constexpr int kColumns = kWidth / 8;  // tiles of 8 columns of sums
  static constexpr int kKeys = kEdge / 8;      // tiles of 8 keys of scores
  static constexpr int kVector = 8;            // numbers of 16 bytes
  static constexpr int kRowVectors = kWidth / kVector;
  static constexpr int kVectors = kEdge * kRowVectors / kThreads;  // of a thread
  static constexpr float kNone = -std::numeric_limits<float>::infinity();

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
  __device__ static int group() { return lane() / 4; }
  __device__ static int thread() { return lane() % 4; }
  __device__ static int band() { return static_cast<int>(threadIdx.x) / kWarp * 16; }
  __device__ float scale() const { return static_cast<float>(shape_.scale); }

  /// A thread's share of 64 rows, on their way from the array to shared memory.
  struct Share {
    uint4 vector[kVectors];

    __device__ static int row(int i) {
      return (i * kThreads + static_cast<int>(threadIdx.x)) / kRowVectors;
    }
    __device__ static int column() { return static_cast<int>(threadIdx.x) % kRowVectors * kVector; }
    /// Of `rows` rows; behind them are zeros.
    __device__ void fetch(const HeadRows<T>& from, int64_t first, int64_t rows) {
      const T* const begin = from.first + first * from.stride + column();
      PHI_UNROLL(8)
      for (int i = 0; i < kVectors; ++i) {
        vector[i] = row(i) < rows ? *reinterpret_cast<const uint4*>(begin + row(i) * from.stride)
                                  : uint4{0, 0, 0, 0};
      }
    }
    __device__ void put(W* tile) const {
      PHI_UNROLL(8)
      for (int i = 0; i < kVectors; ++i)
        *reinterpret_cast<uint4*>(tile + row(i) * Memory::kStride + column()) = vector[i];
    }
  };

  __device__ void load_queries(const HeadRows<T>& queries, int64_t rows) {
    Share share;
    share.fetch(queries, 0, rows);
    __syncthreads();  // what the block did before is over
    share.put(memory_.keys);
    __syncthreads();
    const W* const row = memory_.keys + (band() + lane() % 16) * Memory::kStride + lane() / 16 * 8;
    PHI_UNROLL(8)
    for (int k = 0; k < kSteps; ++k) load_matrices(row + k * 16, queries_[k]);
    __syncthreads();
  }

  __device__ void attend(const HeadRows<T>& keys, const HeadRows<T>& values, int64_t all,
                         int64_t end, int64_t b, int64_t first_query) {
    PHI_UNROLL(16)
    for (int n = 0; n < kColumns; ++n) clear(sums_[n]);
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      most_[half] = kNone;
      total_[half] = 0;
      seen_[half] = shape_.visible_keys(b, first_query + group() + 8 * half);
    }
    const int64_t seen_by_all = shape_.visible_keys(b, first_query);
    Share share;
    if (end > 0) {
      share.fetch(keys, 0, all);
      share.put(memory_.keys);
    }
    for (int64_t key = 0; key < end; key += kEdge) {
      float scores[kKeys][4];
      __syncthreads();  // the keys are there, and the values before are read
      share.fetch(values, key, all - key);
      score(scores);
      if (key + kEdge > seen_by_all) hide(key, scores);
      weigh(scores);
      share.put(memory_.values);
      __syncthreads();  // the values are there, and the keys are read
      if (key + kEdge < end) share.fetch(keys, key + kEdge, all - key - kEdge);
      add_values(scores);
      if (key + kEdge < end) share.put(memory_.keys);
    }
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      total_[half] += from_neighbour(total_[half], 1);
      total_[half] += from_neighbour(total_[half], 2);
    }
  }

  /// Four neighbouring lanes share rows.
  __device__ static float from_neighbour(float value, int by) {
    return shuffle(value, FromLane{lane() ^ by});
  }
  __device__ static void clear(float (&sums)[4]) {
    PHI_UNROLL(4)
    for (int e = 0; e < 4; ++e) sums[e] = 0;
  }

  /// Products of queries and keys, without scale.
  __device__ void score(float (&scores)[kKeys][4]) const {
    const int l = lane();
    const W* const row = memory_.keys + (l % 8 + l / 16 * 8) * Memory::kStride + l / 8 % 2 * 8;
    PHI_UNROLL(8)
    for (int n = 0; n < kKeys; ++n) clear(scores[n]);
    PHI_UNROLL(8)
    for (int k = 0; k < kSteps; ++k) {
      PHI_UNROLL(4)
      for (int n = 0; n < kKeys; n += 2) {
        Pair right[4];
        load_matrices(row + n * 8 * Memory::kStride + k * 16, right);
        add_product<W>(queries_[k], right[0], right[1], scores[n]);
        add_product<W>(queries_[k], right[2], right[3], scores[n + 1]);
      }
    }
  }

  /// Scores of keys that a query does not see are -inf.
  __device__ void hide(int64_t key, float (&scores)[kKeys][4]) const {
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      const int64_t left = seen_[half] - key - 2 * thread();
      const int seen = left < kEdge ? static_cast<int>(left < 0 ? 0 : left) : kEdge;
      PHI_UNROLL(8)
      for (int n = 0; n < kKeys; ++n) {
        if (n * 8 >= seen) scores[n][2 * half] = kNone;
        if (n * 8 + 1 >= seen) scores[n][2 * half + 1] = kNone;
      }
    }
  }

  /// One step of the online softmax: scores become weights exp(scale (score - most)).
  __device__ void weigh(float (&scores)[kKeys][4]) {
    const float factor = scale() * 1.44269504088896340736f;  // of powers of 2
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      float most = most_[half];
      PHI_UNROLL(8)
      for (int n = 0; n < kKeys; ++n)
        most = std::fmax(most, std::fmax(scores[n][2 * half], scores[n][2 * half + 1]));
      most = std::fmax(most, from_neighbour(most, 1));
      most = std::fmax(most, from_neighbour(most, 2));
      const float level = (most == kNone ? 0.0f : most) * factor;
      const float shrink = std::exp2(most_[half] * factor - level);
      most_[half] = most;
      float total = total_[half] * shrink;
      PHI_UNROLL(8)
      for (int n = 0; n < kKeys; ++n) {
        PHI_UNROLL(2)
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          scores[n][e] = std::exp2(scores[n][e] * factor - level);
          total += scores[n][e];
        }
      }
      total_[half] = total;
      PHI_UNROLL(16)
      for (int n = 0; n < kColumns; ++n) {
        sums_[n][2 * half] *= shrink;
        sums_[n][2 * half + 1] *= shrink;
      }
    }
  }

  __device__ void add_values(const float (&weights)[kKeys][4]) {
    const W* const row = memory_.values + lane() % 16 * Memory::kStride + lane() / 16 * 8;
    PHI_UNROLL(4)
    for (int k = 0; k < kKeys; k += 2) {
      const Pair left[4] = {pair_of<W>(weights[k][0], weights[k][1]),
                            pair_of<W>(weights[k][2], weights[k][3]),
                            pair_of<W>(weights[k + 1][0], weights[k + 1][1]),
                            pair_of<W>(weights[k + 1][2], weights[k + 1][3])};
      PHI_UNROLL(8)
      for (int n = 0; n < kColumns; n += 2) {
        Pair right[4];
        load_transposed_matrices(row + k * 8 * Memory::kStride + n * 8, right);
        add_product<W>(left, right[0], right[1], sums_[n]);
        add_product<W>(left, right[2], right[3], sums_[n + 1]);
      }
    }
  }

  /// Writes one of this lane's two rows; `row` of the array is kWidth long.
  __device__ void finish(int half, int64_t row, T* out) const {
    const float factor = total_[half] == 0 ? 0.0f : 1 / total_[half];
    Pair* const to = reinterpret_cast<Pair*>(out + row * kWidth) + thread();
    PHI_UNROLL(16)
    for (int n = 0; n < kColumns; ++n)
      to[n * 4] = pair_of<W>(sums_[n][2 * half] * factor, sums_[n][2 * half + 1] * factor);
  }

  const AttentionShape& shape_;
  Memory& memory_;
  Pair queries_[kSteps][4];
  float sums_[kColumns][4];
  // Of this lane's rows: group() and that + 8.
  float most_[2];    // of the scores so far
  float total_[2];   // of the weights, this lane's part
  int64_t seen_[2];  // keys
};

/// Whether a call can go this way.
template <typename T>
bool fits_registers(const T* q, const T* k, const T* v, const T* out, const AttentionShape& shape) {
  const auto is_aligned = [](const void* array) {
    return reinterpret_cast<uintptr_t>(array) % 16 == 0;
  };
  return kIs16Bit<T> && (shape.width == 64 || shape.width == 128) &&
         shape.value_width == shape.width && is_aligned(q) && is_aligned(k) && is_aligned(v) &&
         is_aligned(out);
}

}  // namespace phi::gpu
