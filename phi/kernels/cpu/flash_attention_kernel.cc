// Attention on the CPU: tiles of queries against tiles of keys, two small GEMMs per pair of tiles.
#include "phi/kernels/flash_attention_kernel.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernel_signatures.h"
#include "phi/kernels/cpu/gemm.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/philox.h"

namespace phi {
namespace {

// Tiles are chosen so that a score tile, a key tile and a value tile stay in the L2 cache.
constexpr int64_t kQueryTile = 64;
constexpr int64_t kKeyTile = 256;  // a multiple of PackedPart::kStep, and of 4, a Philox block
static_assert(kKeyTile % PackedPart::kStep == 0);

/// Where global element `index` of tensor dim `d` is in the local array; 0 where it broadcasts.
/// `needed_by` is q's part, for the error.
int64_t locate(const ShardBox& shard, int d, int64_t index, std::string_view name,
               const ShardBox& needed_by) {
  if (shard.global[d] == 1) return 0;
  const int64_t local = index - shard.box.offset[d];
  PHI_CHECK(local >= 0 && local < shard.box.size[d],
            errors::PreconditionNotMet(
                "{} has {} of {} here, which lacks index {} of tensor dim {} that q's part {} of "
                "{} needs; reshard {} to match q.",
                name, shard.box.to_string(), shard.global.to_string(), index, d,
                needed_by.box.to_string(), needed_by.global.to_string(), name));
  return local;
}

/// Rows of one head of a [batch, seq, heads, width] array, in place.
template <typename T>
struct HeadRows {
  const T* data = nullptr;
  int64_t stride = 0;
  const T* row(int64_t r) const { return data + r * stride; }
};

template <typename T>
HeadRows<T> rows_of(const DenseTensor& x, int64_t batch, int64_t head) {
  const Dims& dims = x.dims();
  const int64_t stride = dims[2] * dims[3];
  return {x.data<T>() + batch * dims[1] * stride + head * dims[3], stride};
}

/// Drops weights by their global position.
struct Dropout {
  double probability = 0;
  uint64_t seed = 0;
  uint64_t offset = 0;
  int64_t keys = 0;  // global

  /// Row `global_row` of [batch, heads, sq] holds the keys [begin, begin + n); begin % 4 == 0.
  template <typename C>
  void apply(int64_t global_row, int64_t begin, int64_t n, C* weights) const {
    const auto threshold = static_cast<uint32_t>(probability * 0x1p32);
    const C factor = static_cast<C>(1.0 / (1.0 - probability));
    const int64_t first = global_row * ((keys + 3) / 4) + begin / 4;
    for (int64_t i = 0; i < n; i += 4) {
      const auto block = static_cast<uint64_t>(first + i / 4);
      const PhiloxBlock words =
          philox({{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                   static_cast<uint32_t>(RandomUse::kAttention), static_cast<uint32_t>(offset)}},
                 {{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}});
      for (int64_t w = 0; w < std::min<int64_t>(4, n - i); ++w)
        weights[i + w] = words.word[w] >= threshold ? weights[i + w] * factor : C(0);
    }
  }
};

struct Places {
  ShardBox q, k, mask;
};

template <typename T>
class FlashAttention {
 public:
  using C = compute_t<T>;

  FlashAttention(const DenseTensor& q, const DenseTensor& k, const DenseTensor& v,
                 const DenseTensor* mask, const Places& places, bool causal, const Dropout& dropout)
      : places_(places),
        q_(q),
        k_(k),
        v_(v),
        mask_(mask),
        batch_(q.dims()[0]),
        sq_(q.dims()[1]),
        heads_(q.dims()[2]),
        sk_(k.dims()[1]),
        width_(q.dims()[3]),
        value_width_(v.dims()[3]),
        scale_(static_cast<C>(1.0 / std::sqrt(static_cast<double>(std::max<int64_t>(width_, 1))))),
        causal_(causal),
        causal_shift_(places.q.box.offset[1] + places.k.global[1] - places.q.global[1]),
        dropout_(dropout),
        scores_(std::make_unique_for_overwrite<C[]>(kQueryTile * kKeyTile)),
        sums_(std::make_unique_for_overwrite<C[]>(kQueryTile * value_width_)) {
    if constexpr (kIs16Bit<T>)
      weights_ = std::make_unique_for_overwrite<T[]>(kQueryTile * kKeyTile);
  }

  void run(T* out, T* softmax, float* lse) {
    for (int64_t b = 0; b < batch_; ++b) {
      const int64_t global_b = b + places_.q.box.offset[0];
      const int64_t kv_batch = locate(places_.k, 0, global_b, "k", places_.q);
      for (int64_t h = 0; h < heads_; ++h) {
        select_head(b, h, kv_batch);
        for (int64_t begin = 0; begin < sq_; begin += kQueryTile) {
          const int64_t rows = std::min(kQueryTile, sq_ - begin);
          run_tile(begin, rows);
          const int64_t row = (b * heads_ + h) * sq_ + begin;
          finish(rows, out + ((b * sq_ + begin) * heads_ + h) * value_width_, lse + row);
          if (softmax) write_softmax(begin, rows, lse + row, softmax + row * sk_);
        }
      }
    }
  }

 private:
  void select_head(int64_t b, int64_t h, int64_t kv_batch) {
    queries_ = rows_of<T>(q_, b, h);
    global_b_ = b + places_.q.box.offset[0];
    global_h_ = h + places_.q.box.offset[2];
    const int64_t group = places_.q.global[2] / places_.k.global[2];
    const int64_t kv_head = locate(places_.k, 2, global_h_ / group, "k", places_.q);
    if (kv_batch == kv_batch_ && kv_head == kv_head_) return;  // heads of one group share k and v
    kv_batch_ = kv_batch;
    kv_head_ = kv_head;
    const HeadRows<T> keys = rows_of<T>(k_, kv_batch, kv_head);
    const HeadRows<T> values = rows_of<T>(v_, kv_batch, kv_head);
    keys_.pack(width_, sk_, keys.data, keys.stride, true);
    values_.pack(sk_, value_width_, values.data, values.stride, false);
  }

  /// The keys that query row `i` sees are [0, this).
  int64_t visible_keys(int64_t i) const {
    return causal_ ? std::clamp<int64_t>(i + causal_shift_ + 1, 0, sk_) : sk_;
  }

  /// Scores of the queries [begin, begin + rows) and the keys [key, key + n), masked.
  void score(int64_t begin, int64_t rows, int64_t key, int64_t n) {
    gemm({.m = rows, .n = n, .k = width_}, scale_, queries_.row(begin), queries_.stride, keys_,
         {.column = key}, C(0), scores_.get(), kKeyTile);
    for (int64_t r = 0; r < rows; ++r) {
      C* row = scores_.get() + r * kKeyTile;
      if (mask_) add_mask(begin + r, key, n, row);
      const int64_t seen = std::clamp<int64_t>(visible_keys(begin + r) - key, 0, n);
      std::fill(row + seen, row + n, -std::numeric_limits<C>::infinity());
    }
  }

  void add_mask(int64_t query, int64_t key, int64_t n, C* row) {
    const Dims& dims = mask_->dims();
    const int64_t b = locate(places_.mask, 0, global_b_, "attn_mask", places_.q);
    const int64_t h = locate(places_.mask, 1, global_h_, "attn_mask", places_.q);
    const int64_t q =
        locate(places_.mask, 2, query + places_.q.box.offset[1], "attn_mask", places_.q);
    const T* from = mask_->data<T>() + ((b * dims[1] + h) * dims[2] + q) * dims[3] + key;
    for (int64_t j = 0; j < n; ++j) row[j] += static_cast<C>(from[j]);
  }

  int64_t global_row(int64_t query) const {
    const Dims& global = places_.q.global;
    return (global_b_ * global[2] + global_h_) * global[1] + query + places_.q.box.offset[1];
  }

  /// Fills most_, totals_ and sums_ for one tile of queries.
  void run_tile(int64_t begin, int64_t rows) {
    std::fill_n(most_, rows, -std::numeric_limits<C>::infinity());
    std::fill_n(totals_, rows, C(0));
    std::fill_n(sums_.get(), rows * value_width_, C(0));
    const int64_t key_end = visible_keys(begin + rows - 1);
    for (int64_t key = 0; key < key_end; key += kKeyTile) {
      const int64_t n = std::min(kKeyTile, key_end - key);
      score(begin, rows, key, n);
      for (int64_t r = 0; r < rows; ++r) update_row(begin, r, key, n);
      gemm({.m = rows, .n = value_width_, .k = n}, C(1), weights(rows, n), kKeyTile, values_,
           {.row = key}, C(1), sums_.get(), value_width_);
    }
  }

  /// The scores of a tile, by now weights, in the type that multiplies v. Rounding them to a 16-bit
  /// T, as the result will be, lets the product use the machine's instructions for T.
  const T* weights(int64_t rows, int64_t n) {
    if constexpr (kIs16Bit<T>) {
      for (int64_t r = 0; r < rows; ++r)
        convert(scores_.get() + r * kKeyTile, weights_.get() + r * kKeyTile, n);
      return weights_.get();
    } else {
      return scores_.get();
    }
  }

  /// One step of the online softmax: earlier sums are rescaled to the new maximum.
  void update_row(int64_t begin, int64_t r, int64_t key, int64_t n) {
    C* row = scores_.get() + r * kKeyTile;
    const C here = row_max(row, n);
    const C most = here > most_[r] || here != here ? here : most_[r];
    if (most == -std::numeric_limits<C>::infinity()) {  // nothing seen so far
      std::fill_n(row, n, C(0));
      return;
    }
    const C shrink = fast::exp(most_[r] - most);
    totals_[r] = totals_[r] * shrink + row_exp_sum(row, n, most, row);
    most_[r] = most;
    if (dropout_.probability > 0) dropout_.apply(global_row(begin + r), key, n, row);
    if (shrink == C(1)) return;
    C* sums = sums_.get() + r * value_width_;
    for (int64_t i = 0; i < value_width_; ++i) sums[i] *= shrink;
  }

  void finish(int64_t rows, T* out, float* lse) {
    for (int64_t r = 0; r < rows; ++r) {
      C* sums = sums_.get() + r * value_width_;
      const C factor = totals_[r] == C(0) ? C(0) : C(1) / totals_[r];
      for (int64_t i = 0; i < value_width_; ++i) sums[i] *= factor;
      convert(sums, out + r * heads_ * value_width_, value_width_);
      lse[r] = static_cast<float>(most_[r] + std::log(totals_[r]));
    }
  }

  /// The weights once more, now that their sums are known.
  void write_softmax(int64_t begin, int64_t rows, const float* lse, T* softmax) {
    for (int64_t key = 0; key < sk_; key += kKeyTile) {
      const int64_t n = std::min(kKeyTile, sk_ - key);
      score(begin, rows, key, n);
      for (int64_t r = 0; r < rows; ++r) {
        C* row = scores_.get() + r * kKeyTile;
        if (std::isinf(lse[r])) {
          std::fill_n(row, n, C(0));
        } else {
          const C factor = C(1) / totals_[r];
          for (int64_t j = 0; j < n; ++j) row[j] = fast::exp(row[j] - most_[r]) * factor;
        }
        if (dropout_.probability > 0) dropout_.apply(global_row(begin + r), key, n, row);
        convert(row, softmax + r * sk_ + key, n);
      }
    }
  }

  Places places_;
  const DenseTensor& q_;
  const DenseTensor& k_;
  const DenseTensor& v_;
  const DenseTensor* mask_;
  int64_t batch_, sq_, heads_, sk_, width_, value_width_;
  C scale_;
  bool causal_;
  int64_t causal_shift_;  // local query i sees keys up to i + causal_shift_
  Dropout dropout_;

  int64_t global_b_ = 0, global_h_ = 0;
  int64_t kv_batch_ = -1, kv_head_ = -1;
  HeadRows<T> queries_;
  PackedRight<T> keys_;           // of one head, transposed: [width, sk]
  PackedRight<T> values_;         // [sk, value_width]
  std::unique_ptr<C[]> scores_;   // [kQueryTile, kKeyTile]
  std::unique_ptr<T[]> weights_;  // the same rounded, if T has 16 bits
  std::unique_ptr<C[]> sums_;     // [kQueryTile, value_width]
  C most_[kQueryTile];            // running maximum of each query's scores
  C totals_[kQueryTile];          // running sum of their exponentials
};

Dropout make_dropout(const DenseTensor* fixed_seed_offset, float probability, bool is_test,
                     int64_t keys, DenseTensor* seed_offset) {
  Dropout dropout;
  if (probability == 0.0f || is_test) return dropout;
  dropout.probability = probability;
  dropout.keys = keys;
  if (fixed_seed_offset) {
    const auto* values = fixed_seed_offset->data<int64_t>();
    dropout.seed = static_cast<uint64_t>(values[0]);
    dropout.offset = static_cast<uint64_t>(values[1]);
  }
  if (seed_offset) {
    auto* values = seed_offset->mutable_data<int64_t>();
    values[0] = static_cast<int64_t>(dropout.seed);
    values[1] = static_cast<int64_t>(dropout.offset);
  }
  return dropout;
}

}  // namespace

template <typename T>
void FlashAttentionKernel(const CpuContext& ctx, const DenseTensor& q, const DenseTensor& k,
                          const DenseTensor& v, const DenseTensor* fixed_seed_offset,
                          const DenseTensor* attn_mask, float dropout, bool causal,
                          bool return_softmax, bool is_test, DenseTensor* out, DenseTensor* softmax,
                          DenseTensor* softmax_lse, DenseTensor* seed_offset) {
  Places places{ctx.input_box(0, q.dims()), ctx.input_box(1, k.dims()), {}};
  PHI_CHECK(places.k.box.size[1] == places.k.global[1],
            errors::PreconditionNotMet("k has {} of {} here, but every query needs the whole of "
                                       "k's and v's sequence; reshard tensor dim 1 to Replicate.",
                                       places.k.box.to_string(), places.k.global.to_string()));
  const ShardBox value_place = ctx.input_box(2, v.dims());
  for (int d = 0; d < 3; ++d) {
    PHI_CHECK(value_place.box.offset[d] == places.k.box.offset[d] && v.dims()[d] == k.dims()[d],
              errors::PreconditionNotMet("v has {} here and k has {}; reshard v as k is.",
                                         value_place.box.to_string(), places.k.box.to_string()));
  }
  if (attn_mask) places.mask = ctx.input_box(4, attn_mask->dims());
  const Dropout drop =
      make_dropout(fixed_seed_offset, dropout, is_test, places.k.global[1], seed_offset);
  if (q.dims().numel(0, 3) == 0) return;
  FlashAttention<T> attention(q, k, v, attn_mask, places, causal, drop);
  attention.run(out->mutable_data<T>(),
                return_softmax && softmax ? softmax->mutable_data<T>() : nullptr,
                softmax_lse->mutable_data<float>());
}

PHI_REGISTER_KERNEL(flash_attention, CPU, FlashAttentionKernel, float, double, bfloat16, float16);

}  // namespace phi
