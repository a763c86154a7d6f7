// FlashAttention: attention on the CPU without the full score matrix. Tiles of queries are
// multiplied with tiles of keys, two small GEMMs per pair of tiles.
//
// T. Dao, D. Fu, S. Ermon, A. Rudra, C. Re, "FlashAttention: Fast and Memory-Efficient Exact
// Attention with IO-Awareness", 2022; T. Dao, "FlashAttention-2", 2023. The online softmax is that
// of M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "phi/kernels/cpu/attention/attention_tiles.h"
#include "phi/kernels/functors/fast/math.h"

namespace phi {

/// One attention problem on arrays of T with GEMM operands of W.
template <typename T, typename W>
class FlashAttention {
 public:
  using C = compute_t<T>;

  explicit FlashAttention(AttentionTiles<T, W> tiles)
      : tiles_(std::move(tiles)),
        sums_(std::make_unique_for_overwrite<C[]>(kQueryTile * tiles_.value_width)) {}

  void run(T* out, T* softmax, C* lse) {
    reserve();
    for (int64_t b = 0; b < tiles_.batch; ++b) {
      for (int64_t h = 0; h < tiles_.heads; ++h) {
        if (tiles_.select_head(b, h)) {
          const HeadRows<W>& values = tiles_.values();
          values_.pack(tiles_.sk, tiles_.value_width, values.data, values.stride, false);
        }
        for (int64_t begin = 0; begin < tiles_.sq; begin += kQueryTile) {
          const int64_t rows = std::min(kQueryTile, tiles_.sq - begin);
          run_tile(begin, rows);
          const int64_t row = tiles_.row_of(begin);
          finish(rows, out + tiles_.head_of(begin) * tiles_.value_width, lse + row);
          if (softmax) write_softmax(begin, rows, lse + row, softmax + row * tiles_.sk);
        }
      }
    }
  }

 private:
  void reserve() {
    const AttentionExtents& room = tiles_.room();
    if constexpr (std::is_same_v<W, bfloat16>) reserve_steps(room.forward_steps());
    tiles_.reserve();
    values_.reserve(room.sk, room.value_width);
  }

  /// Fills states_ and sums_ for one tile of queries.
  void run_tile(int64_t begin, int64_t rows) {
    std::fill_n(states_, rows, attention_rows::Softmax<C>());
    const int64_t key_end = tiles_.visible_keys(begin + rows - 1);
    if (key_end == 0) std::fill_n(sums_.get(), rows * tiles_.value_width, C(0));
    const HeadRows<W> queries = tiles_.queries(begin, rows);
    for (int64_t key = 0; key < key_end; key += kKeyTile) {
      const int64_t n = std::min(kKeyTile, key_end - key);
      tiles_.score(queries, begin, rows, key, n, weights_.numbers());
      for (int64_t r = 0; r < rows; ++r) find_maximum(begin, r, key, n);
      for (int64_t r = 0; r < rows; ++r) update_row(begin, r, key, n);
      gemm({.m = rows, .n = tiles_.value_width, .k = n}, C(1), weights_.operands(), kKeyTile,
           values_, {.row = key}, key == 0 ? C(0) : C(1), sums_.get(), tiles_.value_width);
    }
  }

  /// Sets maxima_[r] to the maximum of the scores that the query sees.
  void find_maximum(int64_t begin, int64_t r, int64_t key, int64_t n) {
    C* row = weights_.numbers(r);
    const int64_t seen = tiles_.visible_keys(begin + r, key, n);
    const int64_t steps = attention_rows::whole_steps(seen);
    std::fill(row + seen, row + steps, -std::numeric_limits<C>::infinity());
    maxima_[r] = attention_rows::largest(steps, row);
  }

  /// One step of the online softmax: scores become weights, earlier sums shrink to the new maximum.
  void update_row(int64_t begin, int64_t r, int64_t key, int64_t n) {
    C* row = weights_.numbers(r);
    const int64_t seen = tiles_.visible_keys(begin + r, key, n);
    const int64_t steps = attention_rows::whole_steps(seen);
    const C shrink = attention_rows::add_scores(steps, maxima_[r], row, &states_[r]);
    if (tiles_.drops()) tiles_.drop(begin + r, key, seen, row);
    std::fill(row + std::min(steps, n), row + n, C(0));
    weights_.round(r, n);
    if (shrink == C(1) || key == 0) return;
    C* sums = sums_.get() + r * tiles_.value_width;
    for (int64_t i = 0; i < tiles_.value_width; ++i) sums[i] *= shrink;
  }

  void finish(int64_t rows, T* out, C* lse) {
    const int64_t width = tiles_.value_width;
    constexpr int64_t kAhead = 12;
    for (int64_t r = 0; r < rows; ++r) {
      C* sums = sums_.get() + r * width;
      T* place = out + r * tiles_.heads * width;
      if (r + kAhead < rows)
        attention_rows::expect_row(place + kAhead * tiles_.heads * width, width);
      const auto [most, total] = states_[r];
      const C factor = total == C(0) ? C(0) : C(1) / total;
      for (int64_t i = 0; i < width; ++i) sums[i] *= factor;
      convert(sums, place, width);
      lse[r] = most + std::log(total);
    }
  }

  /// Computes the weights again, with their final sums.
  void write_softmax(int64_t begin, int64_t rows, const C* lse, T* softmax) {
    const HeadRows<W> queries = tiles_.queries(begin, rows);
    for (int64_t key = 0; key < tiles_.sk; key += kKeyTile) {
      const int64_t n = std::min(kKeyTile, tiles_.sk - key);
      tiles_.score(queries, begin, rows, key, n, weights_.numbers());
      for (int64_t r = 0; r < rows; ++r) {
        C* row = weights_.numbers(r);
        const auto [most, total] = states_[r];
        const int64_t seen = std::isinf(lse[r]) ? 0 : tiles_.visible_keys(begin + r, key, n);
        const C factor = C(1) / total;
        for (int64_t j = 0; j < seen; ++j) row[j] = fast::exp_or_zero(row[j] - most) * factor;
        std::fill(row + seen, row + n, C(0));
        if (tiles_.drops()) tiles_.drop(begin + r, key, seen, row);
        convert(row, softmax + r * tiles_.sk + key, n);
      }
    }
  }

  AttentionTiles<T, W> tiles_;
  PackedRight<W> values_;  // [sk, value_width]
  OperandTile<C, W> weights_;
  std::unique_ptr<C[]> sums_;  // [kQueryTile, value_width]
  C maxima_[kQueryTile];       // of the scores of this tile of keys
  attention_rows::Softmax<C> states_[kQueryTile];
};

}  // namespace phi
