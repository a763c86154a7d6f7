// Fast attention for half-precision heads of 64 or 128 columns, without mask, dropout and softmax
// output: scores and weights stay in the registers of the warp that computes them.
//
// Source: T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work
// Partitioning", 2023. A block processes 64 queries of a head; a warp processes 16 of them with all
// columns.
#pragma once

#include <cmath>
#include <limits>

#include "phi/kernels/gpu/approx_exp2.h"
#include "phi/kernels/gpu/attention/attention_forward.h"
#include "phi/kernels/gpu/attention/run_in_registers.h"

namespace phi::gpu {

template <typename T, int kWidth>
class AttentionInRegisters : public QueryTiling {
 public:
  using HeadTiles = RegisterTiles<T, kWidth>;
  static constexpr int kEdge = HeadTiles::kEdge;
  static constexpr int kThreads = HeadTiles::kThreads;
  struct State {
    typename HeadTiles::Tile keys;  // initially queries
    typename HeadTiles::Tile values;
  };

  __device__ AttentionInRegisters(const ForwardArrays<T>& arrays, const AttentionShape& shape,
                                  State& memory)
      : arrays_(arrays), shape_(shape), memory_(memory) {}

  /// Computes the queries from `begin` on of a head.
  __device__ void run(int64_t b, int64_t h, int64_t begin) {
    const int64_t rows = shape_.sq - begin;
    const int64_t key_rows = shape_.key_batch(b) * shape_.sk;
    const HeadRows<T> queries(arrays_.q, b * shape_.sq + begin, shape_.heads, h, kWidth);
    const HeadRows<T> keys(arrays_.k, key_rows, shape_.kv_heads, shape_.key_head(h), kWidth);
    const HeadRows<T> values(arrays_.v, key_rows, shape_.kv_heads, shape_.key_head(h), kWidth);
    load_queries(queries, rows);
    const int64_t last = begin + (rows < kEdge ? rows : kEdge) - 1;
    attend(keys, values, shape_.keys(b), shape_.visible_keys(b, last), b,
           begin + HeadTiles::band());
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      const int64_t query = begin + HeadTiles::band() + HeadTiles::group() + 8 * half;
      if (query >= shape_.sq) continue;
      const float factor = total_[half] == 0 ? 0.0f : 1 / total_[half];
      const int64_t row = (b * shape_.sq + query) * shape_.heads + h;
      HeadTiles::write_row(sums_, half, factor, arrays_.out + row * kWidth);
      if (HeadTiles::thread() == 0 && arrays_.lse)
        arrays_.lse[shape_.row_of(b, h, query)] = most_[half] * scale() + std::log(total_[half]);
    }
  }

 private:
  static constexpr int kChunks = HeadTiles::kChunks;
  static constexpr float kNone = -std::numeric_limits<float>::infinity();
  using Scores = typename HeadTiles::Chunk[kChunks];

  __device__ float scale() const { return static_cast<float>(shape_.scale); }

  __device__ void load_queries(const HeadRows<T>& queries, int64_t rows) {
    typename HeadTiles::TileLoader loader;
    loader.fetch(queries, 0, rows);
    __syncthreads();  // the previous tile is complete
    loader.put(memory_.keys);
    __syncthreads();
    HeadTiles::load_left(memory_.keys, queries_);
    __syncthreads();
  }

  __device__ void attend(const HeadRows<T>& keys, const HeadRows<T>& values, int64_t all,
                         int64_t end, int64_t b, int64_t first_query) {
    HeadTiles::clear(sums_);
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      most_[half] = kNone;
      total_[half] = 0;
      seen_[half] = shape_.visible_keys(b, first_query + HeadTiles::group() + 8 * half);
    }
    const int64_t seen_by_all = shape_.visible_keys(b, first_query);
    typename HeadTiles::TileLoader loader;
    if (end > 0) {
      loader.fetch(keys, 0, all);
      loader.put(memory_.keys);
    }
    for (int64_t key = 0; key < end; key += kEdge) {
      Scores scores;
      __syncthreads();  // keys are loaded; the previous values have been read
      loader.fetch(values, key, all - key);
      PHI_UNROLL(4)
      for (int i = 0; i < kChunks; ++i) {
        HeadTiles::clear(scores[i]);
        HeadTiles::multiply(queries_, memory_.keys.chunk(i), scores[i]);
      }
      if (key + kEdge > seen_by_all) hide(key, scores);
      weigh(scores);
      loader.put(memory_.values);
      __syncthreads();  // values are loaded; the keys have been read
      if (key + kEdge < end) loader.fetch(keys, key + kEdge, all - key - kEdge);
      PHI_UNROLL(4)
      for (int i = 0; i < kChunks; ++i)
        HeadTiles::add_rows(scores[i], memory_.values.chunk(i), sums_);
      if (key + kEdge < end) loader.put(memory_.keys);
    }
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      total_[half] += from_neighbour(total_[half], 1);
      total_[half] += from_neighbour(total_[half], 2);
    }
  }

  /// The value of another of the four adjacent lanes that share rows.
  __device__ static float from_neighbour(float value, int by) {
    return shuffle(value, ShuffleIdx{HeadTiles::lane() ^ by});
  }

  /// Calls f(score, column) for each score of one of this lane's rows. Column 0 is the lane's first
  /// key.
  template <typename F>
  __device__ static void each(Scores& scores, int half, F f) {
    PHI_UNROLL(8)
    for (int n = 0; n < 2 * kChunks; ++n) {
      f(scores[n / 2][n % 2][2 * half], n * 8);
      f(scores[n / 2][n % 2][2 * half + 1], n * 8 + 1);
    }
  }

  /// Sets the scores of keys that a query does not see to -inf.
  __device__ void hide(int64_t key, Scores& scores) const {
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      const int64_t left = seen_[half] - key - 2 * HeadTiles::thread();
      const int seen = left < kEdge ? static_cast<int>(left < 0 ? 0 : left) : kEdge;
      each(scores, half, [=](float& score, int column) {
        if (column >= seen) score = kNone;
      });
    }
  }

  /// One step of the online softmax: replaces scores by weights exp(scale (score - most)).
  __device__ void weigh(Scores& scores) {
    const float factor = scale() * kLog2E;
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      float most = most_[half];
      each(scores, half, [&](float& score, int) { most = std::fmax(most, score); });
      most = std::fmax(most, from_neighbour(most, 1));
      most = std::fmax(most, from_neighbour(most, 2));
      const float level = (most == kNone ? 0.0f : most) * factor;
      const float shrink = approx_exp2(most_[half] * factor - level);
      float total = total_[half] * shrink;
      each(scores, half, [&](float& score, int) {
        score = approx_exp2(score * factor - level);
        total += score;
      });
      most_[half] = most;
      total_[half] = total;
      PHI_UNROLL(16)
      for (int n = 0; n < HeadTiles::kColumns; ++n) {
        sums_[n][2 * half] *= shrink;
        sums_[n][2 * half + 1] *= shrink;
      }
    }
  }

  const ForwardArrays<T>& arrays_;
  const AttentionShape& shape_;
  State& memory_;
  typename HeadTiles::LeftOperand queries_;
  typename HeadTiles::HeadAccumulator sums_;
  // For this lane's two rows, HeadTiles::group() and HeadTiles::group() + 8.
  float most_[2];    // maximum of the scores so far
  float total_[2];   // this lane's share of the sum of weights
  int64_t seen_[2];  // number of visible keys
};

}  // namespace phi::gpu
