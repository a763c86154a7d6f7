// Shared parts of attention and its gradient on the CPU: heads as matrices, scores of a tile of
// queries against a tile of keys, and dropout by global position.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/attention_shards.h"
#include "phi/kernels/cpu/attention/attention_rows.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/functors/attention_dropout.h"
#include "phi/kernels/functors/philox.h"

namespace phi {

// Tile sizes keep a score tile, a key tile and a value tile in the L2 cache.
inline constexpr int64_t kQueryTile = 64;
inline constexpr int64_t kKeyTile = 256;
static_assert(kKeyTile % PackedPart::kStep == 0 && kKeyTile % attention_rows::kStep == 0);

/// Calls `run` with the operand type of the matmuls for arrays of T: bfloat16 if T is bfloat16 and
/// the machine multiplies it, otherwise the compute type.
template <typename T, typename Run>
void visit_operand(Run&& run) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    if (gemm_isa() != GemmIsa::kWiden) return run.template operator()<bfloat16>();
  }
  run.template operator()<compute_t<T>>();
}

/// Dropout of attention weights. An element's global position decides whether it is dropped.
struct AttentionDropout {
  double probability = 0;  // 0: no dropout
  uint64_t seed = 0;
  uint64_t offset = 0;
  int64_t keys = 0;  // global number of keys

  /// `seed_offset` is null or has two elements, seed and offset.
  static AttentionDropout make(const DenseTensor* seed_offset, float probability, bool is_test,
                               int64_t keys);

  /// Applies dropout to the weights of keys [begin, begin + n) of row `global_row` of [batch,
  /// heads, sq]. `begin` is a multiple of kDropBatch.
  template <typename C>
  void apply(int64_t global_row, int64_t begin, int64_t n, C* weights) const {
    const uint32_t threshold = drop_threshold(probability);
    const C factor = static_cast<C>(kept_factor(probability));
    int64_t batch = global_row * drop_batches(keys) + begin / kDropBatch;
    for (int64_t i = 0; i < n; i += kDropBatch) {
      const BatchWords words(static_cast<uint64_t>(batch++), *this);
      const int64_t count = std::min(kDropBatch, n - i);
      const uint32_t* flat = words.words[0];
      C* out = weights + i;
#pragma GCC ivdep
      for (int64_t j = 0; j < count; ++j) out[j] = flat[j] >= threshold ? out[j] * factor : C(0);
    }
  }

 private:
  static_assert(kKeyTile % kDropBatch == 0);

  struct BatchWords {
    alignas(32) uint32_t words[4][kDropLanes];
    BatchWords(uint64_t batch, const AttentionDropout& dropout) {
      for (int s = 0; s < kDropLanes; ++s) {
        const PhiloxBlock block = drop_counter(batch, s, dropout.offset);
        for (int w = 0; w < 4; ++w) words[w][s] = block.word[w];
      }
      philox_lanes(words, philox_key(dropout.seed));
    }
  };
};

/// Rows of one head, as a GEMM operand.
template <typename W>
struct HeadRows {
  const W* data = nullptr;
  int64_t stride = 0;
  const W* row(int64_t r) const { return data + r * stride; }
};

/// Reads heads of a [batch, seq, heads, width] array of T: in place if operands are T, otherwise
/// converted into a buffer.
template <typename T, typename W>
class HeadReader {
 public:
  HeadReader(const DenseTensor& x, int64_t most_rows)
      : data_(x.data<T>()), seq_(x.dims()[1]), heads_(x.dims()[2]), width_(x.dims()[3]) {
    if constexpr (!std::is_same_v<T, W>)
      buffer_ = std::make_unique_for_overwrite<W[]>(std::min(most_rows, seq_) * width_);
  }
  /// Returns rows [begin, begin + count). A buffered result is valid until the next call.
  HeadRows<W> rows(int64_t batch, int64_t head, int64_t begin, int64_t count) {
    const int64_t stride = heads_ * width_;
    const T* first = data_ + (batch * seq_ + begin) * stride + head * width_;
    if constexpr (std::is_same_v<T, W>) {
      return {first, stride};
    } else {
      for (int64_t r = 0; r < count; ++r)
        convert(first + r * stride, buffer_.get() + r * width_, width_);
      return {buffer_.get(), width_};
    }
  }

 private:
  const T* data_;
  int64_t seq_;
  int64_t heads_;
  int64_t width_;
  std::unique_ptr<W[]> buffer_;
};

/// The extents of a problem that its scratch memory depends on.
struct AttentionExtents {
  int64_t sq, sk, width, value_width;

  static AttentionExtents of(const DenseTensor& q, const DenseTensor& k, const DenseTensor& v) {
    return {q.dims()[1], k.dims()[1], q.dims()[3], v.dims()[3]};
  }
  int64_t query_rows() const { return std::min(kQueryTile, sq); }
  /// The largest k of a GEMM with a packed matrix: scores, weights times values.
  int64_t forward_steps() const { return std::max(width, std::min(kKeyTile, sk)); }
  int64_t backward_steps() const { return std::max({forward_steps(), value_width, query_rows()}); }
};

/// One attention problem, head by head and tile by tile, on arrays of T with GEMM operands of W.
template <typename T, typename W>
class AttentionTiles {
 public:
  using C = compute_t<T>;

  /// Scratch memory has the size for a problem of the extents `room`, or, if null, for this one. A
  /// kernel whose sequences have lengths from data passes the extents that its shapes allow, so
  /// that the size does not depend on data.
  AttentionTiles(const DenseTensor& q, const DenseTensor& k, const DenseTensor& v,
                 const DenseTensor* mask, const AttentionShards& places, bool causal,
                 const AttentionDropout& dropout, double score_scale = 0,
                 const AttentionExtents* room = nullptr)
      : batch(q.dims()[0]),
        sq(q.dims()[1]),
        heads(q.dims()[2]),
        sk(k.dims()[1]),
        width(q.dims()[3]),
        value_width(v.dims()[3]),
        scale(static_cast<C>(score_scale > 0 ? score_scale : attention_scale(width))),
        room_(room ? *room : AttentionExtents::of(q, k, v)),
        places_(places),
        queries_(q, kQueryTile),
        keys_(k, sk),
        values_(v, sk),
        mask_(mask),
        causal_(causal),
        causal_shift_(places.q.box.offset[1] + places.k.global[1] - places.q.global[1]),
        dropout_(dropout) {}

  // Local extents. `scale` multiplies q k^T.
  const int64_t batch, sq, heads, sk, width, value_width;
  const C scale;

  const AttentionExtents& room() const { return room_; }
  /// Allocates the memory of the packed keys.
  void reserve() { score_keys_.reserve(width, room_.sk); }

  /// Selects head h of batch entry b, both local to q, for the functions below. Returns whether its
  /// keys and values differ from those of the previous head.
  bool select_head(int64_t b, int64_t h) {
    b_ = b;
    h_ = h;
    global_b_ = b + places_.q.box.offset[0];
    global_h_ = h + places_.q.box.offset[2];
    const int64_t kv_batch = places_.locate(places_.k, 0, global_b_, "k");
    const int64_t kv_head = places_.locate(places_.k, 2, global_h_ / places_.group(), "k");
    if (kv_batch == kv_batch_ && kv_head == kv_head_) return false;  // same group as the last head
    kv_batch_ = kv_batch;
    kv_head_ = kv_head;
    key_rows_ = keys_.rows(kv_batch, kv_head, 0, sk);
    value_rows_ = values_.rows(kv_batch, kv_head, 0, sk);
    score_keys_.pack(width, sk, key_rows_.data, key_rows_.stride, true);
    return true;
  }

  const HeadRows<W>& keys() const { return key_rows_; }
  const HeadRows<W>& values() const { return value_rows_; }
  HeadRows<W> queries(int64_t begin, int64_t rows) { return queries_.rows(b_, h_, begin, rows); }
  /// Returns the row of query `begin` of this head in arrays [batch, heads, sq].
  int64_t row_of(int64_t begin) const { return (b_ * heads + h_) * sq + begin; }
  /// Returns the row of query `begin` of this head in arrays [batch, sq, heads].
  int64_t head_of(int64_t begin) const { return (b_ * sq + begin) * heads + h_; }

  /// Returns how many keys query `i` sees: keys [0, result).
  int64_t visible_keys(int64_t i) const {
    return causal_ ? std::clamp<int64_t>(i + causal_shift_ + 1, 0, sk) : sk;
  }
  /// Returns how many of the keys [key, key + n) query `i` sees; these are the first ones.
  int64_t visible_keys(int64_t i, int64_t key, int64_t n) const {
    return std::clamp<int64_t>(visible_keys(i) - key, 0, n);
  }

  /// Writes the score of query begin + r and key key + j, including attn_mask, to scores[r *
  /// kKeyTile + j] for r < rows and j < n. A score is undefined if the query does not see the key.
  void score(const HeadRows<W>& queries, int64_t begin, int64_t rows, int64_t key, int64_t n,
             C* scores) const {
    gemm({.m = rows, .n = n, .k = width}, scale, queries.data, queries.stride, score_keys_,
         {.column = key}, C(0), scores, kKeyTile);
    if (!mask_) return;
    for (int64_t r = 0; r < rows; ++r) add_mask(begin + r, key, n, scores + r * kKeyTile);
  }

  bool drops() const { return dropout_.probability > 0; }
  /// Applies dropout to the weights of query `i` for the keys [key, key + n).
  void drop(int64_t i, int64_t key, int64_t n, C* weights) const {
    const Dims& global = places_.q.global;
    const int64_t row =
        (global_b_ * global[2] + global_h_) * global[1] + i + places_.q.box.offset[1];
    dropout_.apply(row, key, n, weights);
  }

 private:
  void add_mask(int64_t query, int64_t key, int64_t n, C* row) const {
    const Dims& dims = mask_->dims();
    const int64_t b = places_.locate(places_.mask, 0, global_b_, "attn_mask");
    const int64_t h = places_.locate(places_.mask, 1, global_h_, "attn_mask");
    const int64_t q = places_.locate(places_.mask, 2, query + places_.q.box.offset[1], "attn_mask");
    const T* from = mask_->data<T>() + ((b * dims[1] + h) * dims[2] + q) * dims[3] + key;
    for (int64_t j = 0; j < n; ++j) row[j] += static_cast<C>(from[j]);
  }

  AttentionExtents room_;
  AttentionShards places_;
  HeadReader<T, W> queries_, keys_, values_;
  const DenseTensor* mask_;
  bool causal_;
  int64_t causal_shift_;  // local query i sees keys up to i + causal_shift_
  AttentionDropout dropout_;

  int64_t b_ = 0, h_ = 0, global_b_ = 0, global_h_ = 0;
  int64_t kv_batch_ = -1, kv_head_ = -1;
  HeadRows<W> key_rows_, value_rows_;
  PackedRight<W> score_keys_;  // [width, sk]
};

/// A tile of numbers in compute type C, and the GEMM operands of type W that are made from it: the
/// same memory if C is W.
template <typename C, typename W>
class OperandTile {
 public:
  OperandTile() {
    std::fill_n(numbers_.room<C>(kSize), kSize, C(0));
    if constexpr (!kInPlace) operands_.room<W>(kSize);
  }
  /// Bytes of both.
  static constexpr size_t kNumberBytes = sizeof(C) * kQueryTile * kKeyTile;
  static constexpr size_t kOperandBytes =
      std::is_same_v<C, W> ? 0 : sizeof(W) * kQueryTile * kKeyTile;
  C* numbers(int64_t r = 0) { return numbers_.data<C>() + r * kKeyTile; }
  W* operands(int64_t r = 0) {
    return (kInPlace ? numbers_ : operands_).template data<W>() + r * kKeyTile;
  }
  /// Converts the first n numbers of row r to operands.
  void round(int64_t r, int64_t n) {
    if constexpr (!kInPlace) convert(numbers(r), operands(r), n);
  }

 private:
  static constexpr bool kInPlace = std::is_same_v<C, W>;
  static constexpr int64_t kSize = kQueryTile * kKeyTile;
  Workspace numbers_;
  Workspace operands_;
};

}  // namespace phi
