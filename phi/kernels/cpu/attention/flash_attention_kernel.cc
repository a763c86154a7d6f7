// Attention without the full score matrix on the CPU: tiles of queries against tiles of keys, two
// small GEMMs per pair of tiles.
//
// T. Dao, D. Fu, S. Ermon, A. Rudra, C. Re, "FlashAttention: Fast and Memory-Efficient Exact
// Attention with IO-Awareness", 2022; T. Dao, "FlashAttention-2", 2023. The online softmax is that
// of M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/attention.h"
#include "phi/kernels/cpu/attention/attention_tiles.h"
#include "phi/kernels/functors/fast_math.h"

namespace phi {
namespace {

template <typename T, typename W>
class FlashAttention {
 public:
  using C = compute_t<T>;

  explicit FlashAttention(AttentionTiles<T, W> tiles)
      : tiles_(std::move(tiles)),
        sums_(std::make_unique_for_overwrite<C[]>(kQueryTile * tiles_.value_width)) {}

  void run(T* out, T* softmax, C* lse) {
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

  /// Fills maxima_[r] with that of the scores that the query sees.
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
      attention_rows::round_row(sums, width, place);
      lse[r] = most + std::log(total);
    }
  }

  /// The weights once more, now that their sums are known.
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

// Positions [begin, end) of batch entry b of a [batch, seq, heads, width] array, as the only entry.
DenseTensor positions_of(const DenseTensor& x, int64_t b, int64_t begin, int64_t end) {
  const Dims& d = x.dims();
  const DenseTensor entry = x.rows(b, b + 1).view({d[1], d[2], d[3]});
  return entry.rows(begin, end).view({1, end - begin, d[2], d[3]});
}

// Writes entry b of x behind the first `held` positions of its cache; gives all that are there
// then.
DenseTensor append(const DenseTensor& x, int64_t b, int64_t held, const DenseTensor& cache) {
  const int64_t end = held + x.dims()[1];
  const DenseTensor from = x.rows(b, b + 1);
  DenseTensor to = positions_of(cache, b, held, end);
  if (from.nbytes() > 0) std::memcpy(to.mutable_raw_data(), from.raw_data(), from.nbytes());
  return positions_of(cache, b, 0, end);
}

// An inplace call has nothing to copy.
void start_from(const DenseTensor& cache, DenseTensor* out) {
  if (out->nbytes() == 0 || out->raw_data() == cache.raw_data()) return;
  std::memcpy(out->mutable_raw_data(), cache.raw_data(), cache.nbytes());
}

// Where one batch entry lies that has `keys` keys: only the split by heads matters to it.
AttentionPlaces places_of_entry(AttentionPlaces places, int64_t keys) {
  for (ShardBox* shard : {&places.q, &places.k}) {
    shard->global[0] = shard->box.size[0] = 1;
    shard->box.offset[0] = 0;
  }
  places.k.global[1] = places.k.box.size[1] = keys;
  return places;
}

}  // namespace

/// out = dropout(softmax(q k^T / sqrt(head_dim) + attn_mask)) v per batch entry and head; shapes
/// as FlashAttentionInferMeta says. 16-bit types compute in float.
///
/// causal    Query i sees the keys j <= i + sk - sq: the mask is aligned to the bottom right corner
///           where the lengths differ. A query that sees no key gives zeros and a log-sum-exp of
///           -inf.
/// attn_mask A query all of whose keys have -inf is one that sees no key. Hide with -inf: a row of
///           large finite numbers alone (-1e9, say) averages its values, but its log-sum-exp has no
///           digits left for the gradient.
/// dropout   Unless is_test, a weight is dropped with this probability and kept ones are divided by
///           1 - dropout. What is dropped depends on seed and offset (fixed_seed_offset, else 0, 0;
///           written to seed_offset) and the weight's global position alone.
/// softmax   If wanted: the weights that multiplied v, dropout included.
/// Sharding  Any of batch, heads and q's sequence may be a part of the global tensor; k's sequence
///           must be whole, and k must hold the heads and batch entries that q's need.
template <typename T, typename Context>
void FlashAttentionKernel(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                          const DenseTensor& v, const DenseTensor* fixed_seed_offset,
                          const DenseTensor* attn_mask, float dropout, bool causal,
                          bool return_softmax, bool is_test, DenseTensor* out, DenseTensor* softmax,
                          DenseTensor* softmax_lse, DenseTensor* seed_offset) {
  const AttentionPlaces places = attention_places(ctx, q, k, v, attn_mask, 4);
  const auto drop = AttentionDropout::make(fixed_seed_offset, dropout, is_test, places.k.global[1]);
  if (drop.probability > 0 && seed_offset) {
    auto* values = seed_offset->mutable_data<int64_t>();
    values[0] = static_cast<int64_t>(drop.seed);
    values[1] = static_cast<int64_t>(drop.offset);
  }
  if (q.dims().numel(0, 3) == 0) return;
  visit_operand<T>([&]<typename W>() {
    FlashAttention<T, W> attention({q, k, v, attn_mask, places, causal, drop});
    attention.run(out->mutable_data<T>(),
                  return_softmax && softmax ? softmax->mutable_data<T>() : nullptr,
                  softmax_lse->mutable_data<compute_t<T>>());
  });
}

/// Adds k and v to the caches, in place, and attends to all that is there then, causally: the new
/// positions of batch entry b are cache_seqlens[b] + 0, 1, ... and see those before and themselves.
/// Nothing that the caches held is moved or copied. As in Dao's flash_attn_with_kvcache.
///
/// Sharding  Any of batch and heads may be a part of the global tensors, as FlashAttentionKernel.
/// Errors    OutOfRange if a length is negative or the caches have no room for the new positions.
template <typename T, typename Context>
void FlashAttentionWithKvcacheKernel(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                                     const DenseTensor& v, const DenseTensor& k_cache,
                                     const DenseTensor& v_cache, const DenseTensor& cache_seqlens,
                                     DenseTensor* out, DenseTensor* k_cache_out,
                                     DenseTensor* v_cache_out) {
  const AttentionPlaces places = attention_places(ctx, q, k, v, nullptr, 0);
  const auto lengths =
      std::span(cache_seqlens.data<int64_t>(), static_cast<size_t>(cache_seqlens.numel()));
  start_from(k_cache, k_cache_out);
  start_from(v_cache, v_cache_out);
  std::vector<compute_t<T>> lse(static_cast<size_t>(q.dims()[1] * q.dims()[2]));
  for (int64_t b = 0; b < q.dims()[0]; ++b) {
    const int64_t held = lengths[static_cast<size_t>(b)];
    const int64_t room = k_cache.dims()[1];
    PHI_CHECK(held >= 0 && held <= room - q.dims()[1],
              errors::OutOfRange("cache_seqlens has a {}: caches with room for {} positions cannot "
                                 "take {} more behind so many; make larger ones.",
                                 held, room, q.dims()[1]));
    const DenseTensor keys = append(k, b, held, *k_cache_out);
    const DenseTensor values = append(v, b, held, *v_cache_out);
    if (q.dims().numel(1, 3) == 0) continue;
    const DenseTensor queries = q.rows(b, b + 1);
    visit_operand<T>([&]<typename W>() {
      FlashAttention<T, W> attention({queries,
                                      keys,
                                      values,
                                      nullptr,
                                      places_of_entry(places, keys.dims()[1]),
                                      /*causal=*/true,
                                      {}});
      attention.run(out->rows(b, b + 1).template mutable_data<T>(), nullptr, lse.data());
    });
  }
}

PHI_REGISTER_KERNEL(flash_attention, CPU, FlashAttentionKernel, Floats);
PHI_REGISTER_KERNEL(flash_attention_with_kvcache, CPU, FlashAttentionWithKvcacheKernel, Floats);

}  // namespace phi
