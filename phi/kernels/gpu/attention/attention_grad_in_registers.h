// Fast gradients of attention for half-precision heads of 64 or 128 columns, without mask and
// dropout: weights and score gradients stay in the registers of the warp that computes them.
// attention_grad.h has the formulas' source and the structure of the two kernels.
#pragma once

#include <limits>

#include "phi/kernels/gpu/approx_exp2.h"
#include "phi/kernels/gpu/attention/attention_grad.h"
#include "phi/kernels/gpu/attention/run_in_registers.h"

namespace phi::gpu {

/// Per-query terms of the score gradients.
struct QueryRow {
  float log_sum;  // base-2 logarithm of the sum of exponentials of the scores
  float delta;
};

template <typename T>
__device__ QueryRow query_row(const GradArrays<T>& arrays, int64_t at) {
  return {arrays.lse[at] * kLog2E, arrays.delta[at]};
}
/// Number of keys that a query sees; 0 if its log-sum is -inf, that is, if the forward pass saw
/// none.
__device__ inline int64_t keys_seen(const AttentionShape& shape, const QueryRow& row, int64_t b,
                                    int64_t query) {
  const bool sees = row.log_sum != -std::numeric_limits<float>::infinity();
  return sees ? shape.visible_keys(b, query) : 0;
}

/// Weight and score gradient of one (query, key) pair.
struct WeightAndScoreGrad {
  float weight;
  float score_grad;

  __device__ WeightAndScoreGrad(float score, float weight_grad, const QueryRow& row, float factor,
                                bool is_seen)
      : weight(is_seen ? approx_exp2(score * factor - row.log_sum) : 0.0f),
        score_grad(is_seen ? weight * (weight_grad - row.delta) : 0.0f) {}
};

/// Gradient of q. A block processes 64 queries of a head and loops over the keys.
template <typename T, int kWidth>
class QueryGradInRegisters : public QueryTiling {
 public:
  using Tiles = RegisterTiles<T, kWidth>;
  static constexpr int kEdge = Tiles::kEdge;
  static constexpr int kThreads = Tiles::kThreads;
  struct State {
    typename Tiles::Tile keys;    // initially queries
    typename Tiles::Tile values;  // initially output gradients
  };

  __device__ QueryGradInRegisters(const GradArrays<T>& arrays, const AttentionShape& shape,
                                  State& memory)
      : arrays_(arrays), shape_(shape), memory_(memory) {}

  /// Computes the queries from `begin` on of a head.
  __device__ void run(int64_t b, int64_t h, int64_t begin) {
    const int64_t rows = shape_.sq - begin;
    load_queries(b, h, begin, rows);
    Tiles::clear(sums_);
    const int64_t key_rows = shape_.key_batch(b) * shape_.sk;
    const HeadRows<T> keys(arrays_.k, key_rows, shape_.kv_heads, shape_.key_head(h), kWidth);
    const HeadRows<T> values(arrays_.v, key_rows, shape_.kv_heads, shape_.key_head(h), kWidth);
    const int64_t end = shape_.visible_keys(b, begin + (rows < kEdge ? rows : kEdge) - 1);
    typename Tiles::TileLoader loader;
    if (end > 0) loader.fetch(keys, 0, shape_.sk);
    for (int64_t key = 0; key < end; key += kEdge) {
      __syncthreads();  // the tiles before are read
      loader.put(memory_.keys);
      loader.fetch(values, key, shape_.sk - key);
      loader.put(memory_.values);
      __syncthreads();
      if (key + kEdge < end) loader.fetch(keys, key + kEdge, shape_.sk - key - kEdge);
      PHI_UNROLL(1)
      for (int i = 0; i < Tiles::kChunks; ++i) add_chunk(key, i);
    }
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      const int64_t query = begin + row_of(half);
      if (query >= shape_.sq) continue;
      Tiles::write_row(sums_, half, static_cast<float>(shape_.scale),
                       arrays_.q_grad + ((b * shape_.sq + query) * shape_.heads + h) * kWidth);
    }
  }

 private:
  __device__ static int row_of(int half) { return Tiles::band() + Tiles::group() + 8 * half; }

  __device__ void load_queries(int64_t b, int64_t h, int64_t begin, int64_t rows) {
    const int64_t first = b * shape_.sq + begin;
    Tiles::load_both(HeadRows<T>(arrays_.q, first, shape_.heads, h, kWidth),
                     HeadRows<T>(arrays_.out_grad, first, shape_.heads, h, kWidth), rows,
                     memory_.keys, memory_.values, queries_, out_grads_);
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      const int64_t query = begin + row_of(half);
      rows_[half] = {0, 0};
      seen_[half] = 0;
      if (query >= shape_.sq) continue;
      rows_[half] = query_row(arrays_, shape_.row_of(b, h, query));
      seen_[half] = keys_seen(shape_, rows_[half], b, query);
    }
  }

  __device__ void add_chunk(int64_t key, int i) {
    const float factor = static_cast<float>(shape_.scale) * kLog2E;
    typename Tiles::Chunk scores, weight_grads;
    Tiles::clear(scores);
    Tiles::clear(weight_grads);
    Tiles::multiply(queries_, memory_.keys.chunk(i), scores);
    Tiles::multiply(out_grads_, memory_.values.chunk(i), weight_grads);
    const int64_t first = key + i * Tiles::kChunk + 2 * Tiles::thread();
    PHI_UNROLL(8)
    for (int e = 0; e < 8; ++e) {
      const int half = e % 4 / 2;
      float& score = scores[e / 4][e % 4];
      const bool is_seen = first + e / 4 * 8 + e % 2 < seen_[half];
      score = WeightAndScoreGrad(score, weight_grads[e / 4][e % 4], rows_[half], factor, is_seen)
                  .score_grad;
    }
    Tiles::add_rows(scores, memory_.keys.chunk(i), sums_);
  }

  const GradArrays<T>& arrays_;
  const AttentionShape& shape_;
  State& memory_;
  typename Tiles::LeftOperand queries_;
  typename Tiles::LeftOperand out_grads_;
  typename Tiles::HeadAccumulator sums_;
  // For this lane's two rows.
  QueryRow rows_[2];
  int64_t seen_[2];  // number of visible keys
};

/// Gradients of k and v. A block processes 64 keys of a key head and loops over the queries of all
/// heads that share it. Score tiles are transposed: rows are keys, columns queries.
template <typename T, int kWidth>
class KeyGradsInRegisters : public KeyTiling {
 public:
  using Tiles = RegisterTiles<T, kWidth>;
  static constexpr int kEdge = Tiles::kEdge;
  static constexpr int kThreads = Tiles::kThreads;
  struct State {
    typename Tiles::Tile queries;    // initially keys
    typename Tiles::Tile out_grads;  // initially values
    QueryRow rows[kEdge];
    int seen[kEdge];  // number of this block's keys that each query sees
  };

  __device__ KeyGradsInRegisters(const GradArrays<T>& arrays, const AttentionShape& shape,
                                 State& memory)
      : arrays_(arrays), shape_(shape), memory_(memory) {}

  /// Computes the keys from `begin` on of a key head.
  __device__ void run(int64_t kv_b, int64_t kv_h, int64_t begin) {
    const int64_t first_row = kv_b * shape_.sk + begin;
    Tiles::load_both(HeadRows<T>(arrays_.k, first_row, shape_.kv_heads, kv_h, kWidth),
                     HeadRows<T>(arrays_.v, first_row, shape_.kv_heads, kv_h, kWidth),
                     shape_.sk - begin, memory_.queries, memory_.out_grads, keys_, values_);
    Tiles::clear(key_sums_);
    Tiles::clear(value_sums_);
    const int64_t b = kv_b - shape_.kv_batch_shift;
    const int64_t first_head = (kv_h + shape_.first_kv_head) * shape_.group - shape_.first_head;
    const bool has_batch = b >= 0 && b < shape_.batch;
    for (int64_t of_group = 0; has_batch && of_group < shape_.group; ++of_group) {
      const int64_t h = first_head + of_group;
      if (h >= 0 && h < shape_.heads) add_head(b, h, begin);  // other heads are on other ranks
    }
    PHI_UNROLL(2)
    for (int half = 0; half < 2; ++half) {
      const int64_t key = Tiles::band() + Tiles::group() + 8 * half;
      if (begin + key >= shape_.sk) continue;
      const int64_t at = ((first_row + key) * shape_.kv_heads + kv_h) * kWidth;
      if (arrays_.k_grad)
        Tiles::write_row(key_sums_, half, static_cast<float>(shape_.scale), arrays_.k_grad + at);
      if (arrays_.v_grad) Tiles::write_row(value_sums_, half, 1.0f, arrays_.v_grad + at);
    }
  }

 private:
  __device__ void add_head(int64_t b, int64_t h, int64_t begin) {
    const int64_t first = b * shape_.sq;
    const HeadRows<T> queries(arrays_.q, first, shape_.heads, h, kWidth);
    const HeadRows<T> out_grads(arrays_.out_grad, first, shape_.heads, h, kWidth);
    for (int64_t query = 0; query < shape_.sq; query += kEdge) {
      const int64_t rows = shape_.sq - query < kEdge ? shape_.sq - query : kEdge;
      if (shape_.visible_keys(b, query + rows - 1) <= begin) continue;
      __syncthreads();  // the tiles before are read
      Tiles::copy(queries, query, rows, memory_.queries);
      Tiles::copy(out_grads, query, rows, memory_.out_grads);
      load_rows(b, h, query, rows, begin);
      __syncthreads();
      PHI_UNROLL(1)
      for (int i = 0; i < Tiles::kChunks; ++i) add_chunk(i);
    }
  }

  __device__ void load_rows(int64_t b, int64_t h, int64_t query, int64_t rows, int64_t begin) {
    for (int r = static_cast<int>(threadIdx.x); r < kEdge; r += kThreads) {
      QueryRow row{0, 0};
      int64_t seen = 0;
      if (r < rows) {
        row = query_row(arrays_, shape_.row_of(b, h, query + r));
        seen = keys_seen(shape_, row, b, query + r) - begin;
      }
      memory_.rows[r] = row;
      memory_.seen[r] = static_cast<int>(seen < 0 ? 0 : (seen < kEdge ? seen : kEdge));
    }
  }

  __device__ void add_chunk(int i) {
    const float factor = static_cast<float>(shape_.scale) * kLog2E;
    typename Tiles::Chunk weights, score_grads;
    Tiles::clear(weights);
    Tiles::clear(score_grads);
    Tiles::multiply(keys_, memory_.queries.chunk(i), weights);
    Tiles::multiply(values_, memory_.out_grads.chunk(i), score_grads);
    const int key = Tiles::band() + Tiles::group();
    PHI_UNROLL(4)
    for (int column = 0; column < 4; ++column) {
      const int n = column / 2;
      const int query = i * Tiles::kChunk + n * 8 + 2 * Tiles::thread() + column % 2;
      const QueryRow row = memory_.rows[query];
      const int seen = memory_.seen[query];
      PHI_UNROLL(2)
      for (int half = 0; half < 2; ++half) {
        const int e = 2 * half + column % 2;
        const WeightAndScoreGrad both(weights[n][e], score_grads[n][e], row, factor,
                                      key + 8 * half < seen);
        weights[n][e] = both.weight;
        score_grads[n][e] = both.score_grad;
      }
    }
    Tiles::add_rows(weights, memory_.out_grads.chunk(i), value_sums_);
    Tiles::add_rows(score_grads, memory_.queries.chunk(i), key_sums_);
  }

  const GradArrays<T>& arrays_;
  const AttentionShape& shape_;
  State& memory_;
  typename Tiles::LeftOperand keys_;
  typename Tiles::LeftOperand values_;
  typename Tiles::HeadAccumulator key_sums_;
  typename Tiles::HeadAccumulator value_sums_;
};

}  // namespace phi::gpu
