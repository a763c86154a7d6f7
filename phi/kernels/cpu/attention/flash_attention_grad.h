// FlashAttentionGrad: the gradient of attention on the CPU without the full score matrix. For each
// key head, tiles of the queries that share it are multiplied with tiles of its keys, five small
// GEMMs per pair of tiles.
//
// T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023,
// algorithm 2: weights are recomputed, tile by tile, from the scores and their log-sum-exp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "phi/kernels/cpu/attention/attention_tiles.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/fast/math.h"

namespace phi {

/// Output arrays of the gradients of q, k and v; null if one is not wanted.
template <typename T>
struct AttentionGradients {
  T* q;
  T* k;
  T* v;
};

template <typename T, typename W>
class FlashAttentionGrad {
 public:
  using C = compute_t<T>;

  FlashAttentionGrad(AttentionTiles<T, W> tiles, const AttentionShards& places,
                     const DenseTensor& out, const DenseTensor& out_grad, const C* lse,
                     const AttentionGradients<T>& wanted)
      : tiles_(std::move(tiles)),
        places_(places),
        outs_(out, kQueryTile),
        out_grads_(out_grad, kQueryTile),
        lse_(lse),
        wanted_(wanted),
        query_sums_(array(kQueryTile * tiles_.width)),
        key_sums_(array(wanted.k ? tiles_.sk * tiles_.width : 0)),
        value_sums_(array(wanted.v ? tiles_.sk * tiles_.value_width : 0)) {}

  void run() {
    reserve();
    const Box& keys = places_.k.box;
    for (int64_t b = 0; b < keys.size[0]; ++b) {
      for (int64_t h = 0; h < keys.size[2]; ++h) run_key_head(b, h);
    }
  }

 private:
  static std::unique_ptr<C[]> array(int64_t n) { return std::make_unique_for_overwrite<C[]>(n); }

  void reserve() {
    const AttentionExtents& room = tiles_.room();
    if constexpr (std::is_same_v<W, bfloat16>) reserve_steps(room.backward_steps());
    tiles_.reserve();
    if (wanted_.q) keys_.reserve(room.sk, room.width);
    values_.reserve(room.value_width, room.sk);
    if (wanted_.k) packed_queries_.reserve(room.query_rows(), room.width);
    if (wanted_.v) packed_out_grads_.reserve(room.query_rows(), room.value_width);
  }

  /// Sums over this rank's queries that use local key head h of batch entry b. The sums are 0 if
  /// all of them are on other ranks.
  void run_key_head(int64_t b, int64_t h) {
    if (wanted_.k) std::fill_n(key_sums_.get(), tiles_.sk * tiles_.width, C(0));
    if (wanted_.v) std::fill_n(value_sums_.get(), tiles_.sk * tiles_.value_width, C(0));
    const Box& queries = places_.q.box;
    const int64_t group = places_.group();
    const int64_t local_b = b + places_.k.box.offset[0] - queries.offset[0];
    const int64_t first = (h + places_.k.box.offset[2]) * group - queries.offset[2];
    if (local_b >= 0 && local_b < tiles_.batch) {
      const int64_t end = std::min(first + group, tiles_.heads);
      for (int64_t q_head = std::max<int64_t>(first, 0); q_head < end; ++q_head)
        run_query_head(local_b, q_head);
    }
    const int64_t kv_heads = places_.k.box.size[2];
    const int64_t row = b * tiles_.sk * kv_heads + h;
    if (wanted_.k) store(key_sums_.get(), tiles_.sk, tiles_.width, row, kv_heads, wanted_.k);
    if (wanted_.v)
      store(value_sums_.get(), tiles_.sk, tiles_.value_width, row, kv_heads, wanted_.v);
  }

  /// Stores rows of sums as rows `row`, `row + heads`, ... of an array [batch, seq, heads, width].
  static void store(const C* sums, int64_t rows, int64_t width, int64_t row, int64_t heads, T* to) {
    constexpr int64_t kAhead = 12;
    for (int64_t r = 0; r < rows; ++r) {
      T* place = to + (row + r * heads) * width;
      if (r + kAhead < rows) attention_rows::expect_row(place + kAhead * heads * width, width);
      convert(sums + r * width, place, width);
    }
  }

  void run_query_head(int64_t b, int64_t h) {
    if (tiles_.select_head(b, h)) {
      const HeadRows<W>& keys = tiles_.keys();
      const HeadRows<W>& values = tiles_.values();
      if (wanted_.q) keys_.pack(tiles_.sk, tiles_.width, keys.data, keys.stride, false);
      values_.pack(tiles_.value_width, tiles_.sk, values.data, values.stride, true);
    }
    for (int64_t begin = 0; begin < tiles_.sq; begin += kQueryTile) {
      const int64_t rows = std::min(kQueryTile, tiles_.sq - begin);
      const HeadRows<W> out_grads = out_grads_.rows(b, h, begin, rows);
      prepare_rows(outs_.rows(b, h, begin, rows), out_grads, begin, rows);
      const HeadRows<W> queries = tiles_.queries(begin, rows);
      if (wanted_.k) packed_queries_.pack(rows, tiles_.width, queries.data, queries.stride, false);
      if (wanted_.v)
        packed_out_grads_.pack(rows, tiles_.value_width, out_grads.data, out_grads.stride, false);
      const int64_t key_end = tiles_.visible_keys(begin + rows - 1);
      if (key_end == 0) std::fill_n(query_sums_.get(), rows * tiles_.width, C(0));
      for (int64_t key = 0; key < key_end; key += kKeyTile)
        run_tile(queries, out_grads, begin, rows, key, std::min(kKeyTile, key_end - key));
      if (wanted_.q)
        store(query_sums_.get(), rows, tiles_.width, tiles_.head_of(begin), tiles_.heads,
              wanted_.q);
    }
  }

  /// Computes D and the log-sum-exp of one tile of queries.
  void prepare_rows(const HeadRows<W>& outs, const HeadRows<W>& out_grads, int64_t begin,
                    int64_t rows) {
    for (int64_t r = 0; r < rows; ++r) {
      const W* out = outs.row(r);
      const W* grad = out_grads.row(r);
      shares_[r] = row_sum<C>(tiles_.value_width, [=](int64_t i) {
        return static_cast<C>(out[i]) * static_cast<C>(grad[i]);
      });
      log_sums_[r] = lse_[tiles_.row_of(begin) + r];
    }
  }

  void run_tile(const HeadRows<W>& queries, const HeadRows<W>& out_grads, int64_t begin,
                int64_t rows, int64_t key, int64_t n) {
    const int64_t width = tiles_.width;
    const int64_t value_width = tiles_.value_width;
    tiles_.score(queries, begin, rows, key, n, weights_.numbers());
    if (wanted_.q || wanted_.k) {
      gemm({.m = rows, .n = n, .k = value_width}, C(1), out_grads.data, out_grads.stride, values_,
           {.column = key}, C(0), slopes_.numbers(), kKeyTile);
    }
    for (int64_t r = 0; r < rows; ++r) make_row(begin, r, key, n);
    if (wanted_.v) {
      gemm({.m = n, .n = value_width, .k = rows, .trans_a = true}, C(1), weights_.operands(),
           kKeyTile, packed_out_grads_, {}, C(1), value_sums_.get() + key * value_width,
           value_width);
    }
    if (wanted_.k) {
      gemm({.m = n, .n = width, .k = rows, .trans_a = true}, tiles_.scale, slopes_.operands(),
           kKeyTile, packed_queries_, {}, C(1), key_sums_.get() + key * width, width);
    }
    if (wanted_.q) {
      gemm({.m = rows, .n = width, .k = n}, tiles_.scale, slopes_.operands(), kKeyTile, keys_,
           {.row = key}, key == 0 ? C(0) : C(1), query_sums_.get(), width);
    }
  }

  /// Turns scores into weights P (P * M with dropout), and out_grad v^T into score gradients dS.
  void make_row(int64_t begin, int64_t r, int64_t key, int64_t n) {
    C* weights = weights_.numbers(r);
    C* slopes = slopes_.numbers(r);
    const C log_sum = log_sums_[r];
    const bool sees_none = log_sum == -std::numeric_limits<C>::infinity();
    const int64_t seen = sees_none ? 0 : tiles_.visible_keys(begin + r, key, n);
    if (tiles_.drops()) {
      drop_row(begin + r, key, seen, log_sum, shares_[r], weights, slopes);
    } else {
      attention_rows::make_slopes(attention_rows::whole_steps(seen), log_sum, shares_[r], weights,
                                  slopes);
    }
    std::fill(weights + seen, weights + n, C(0));
    std::fill(slopes + seen, slopes + n, C(0));
    weights_.round(r, n);
    slopes_.round(r, n);
  }

  /// The counterpart of make_slopes with dropout: P * M and P * (M * slope - D).
  void drop_row(int64_t query, int64_t key, int64_t n, C log_sum, C share, C* weights, C* slopes) {
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      kept_[j] = fast::exp_or_zero(weights[j] - log_sum);
      weights[j] = kept_[j];
    }
    tiles_.drop(query, key, n, weights);
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) slopes[j] = weights[j] * slopes[j] - kept_[j] * share;
  }

  AttentionTiles<T, W> tiles_;
  AttentionShards places_;
  HeadReader<T, W> outs_, out_grads_;
  const C* lse_;  // [batch, heads, sq]
  AttentionGradients<T> wanted_;
  PackedRight<W> keys_, values_;                      // per head: [sk, width], [value_width, sk]
  PackedRight<W> packed_queries_, packed_out_grads_;  // per tile
  OperandTile<C, W> weights_, slopes_;                // P (P * M with dropout), dS
  std::unique_ptr<C[]> query_sums_;                   // [kQueryTile, width]
  std::unique_ptr<C[]> key_sums_, value_sums_;        // [sk, width], [sk, value_width]
  C shares_[kQueryTile];                              // D
  C log_sums_[kQueryTile];
  C kept_[kKeyTile];  // a row of P
};

/// Returns null for an output that is not wanted.
template <typename T>
T* data_if_wanted(DenseTensor* x) {
  return x ? x->mutable_data<T>() : nullptr;
}

}  // namespace phi
