// Building blocks of the gradients of attention on GPUs, for padded and packed (varlen) sequences.
// The CPU kernel of flash_attention_grad states the formulas.
//
// Source: T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work
// Partitioning", 2023, algorithm 2, but with one kernel for q and one for k and v. Each block sums
// into memory that no other block writes, so results repeat bit for bit. In return the gradients of
// the scores are computed twice.
#pragma once

#include <algorithm>
#include <limits>

#include "phi/kernels/gpu/attention/attention_tiles.h"
#include "phi/kernels/gpu/lines.h"

namespace phi::gpu {

template <typename T>
struct GradArrays {
  using C = compute_t<T>;
  const T* q;
  const T* k;
  const T* v;
  const T* out_grad;
  const C* lse;    // [batch, heads, sq]
  const C* delta;  // rowsum(out_grad * out), the same
  T* q_grad;       // null: not computed; the same holds for the others
  T* k_grad;
  T* v_grad;
};

template <typename T>
struct GradMemory {
  using C = compute_t<T>;
  using W = operand_t<T>;
  static constexpr int kPairStride = AttentionTile<T>::kEdge + 16 / static_cast<int>(sizeof(W));
  static constexpr int kPair = AttentionTile<T>::kEdge * kPairStride;

  alignas(32) W left[AttentionTile<T>::kPart];   // a part of the queries or of the output gradients
  alignas(32) W right[AttentionTile<T>::kPart];  // a part of the keys or values
  C lse[AttentionTile<T>::kEdge];
  C delta[AttentionTile<T>::kEdge];
  int64_t visible[AttentionTile<T>::kEdge];  // a row's query sees keys [0, visible)
};

/// A tile of queries and a tile of keys, and the weights and score gradients of the pair.
template <typename T>
class GradTile {
 public:
  using C = compute_t<T>;
  using W = operand_t<T>;

  __device__ GradTile(const GradArrays<T>& arrays, const AttentionShape& shape,
                      const AttentionMask<T>& mask, const AttentionDropoutMask& drops,
                      GradMemory<T>& memory)
      : arrays(arrays), shape(shape), memory(memory), mask_(mask), drops_(drops) {}

  /// Selects batch entry b and head h of q, the queries from `query` on and the keys from `key` on.
  __device__ void select(int64_t b, int64_t h, int64_t query, int64_t key) {
    b_ = b;
    h_ = h;
    query_ = query;
    key_ = key;
    rows = clamped(shape.sq - query);
    keys = clamped(shape.sk - key);
  }
  /// Loads the per-query values into shared memory. Synchronise the block before reading them.
  __device__ void load_rows() {
    for (int r = static_cast<int>(threadIdx.x); r < AttentionTile<T>::kEdge;
         r += AttentionTile<T>::kThreads) {
      const int64_t at = shape.row_of(b_, h_, query_ + r);
      const bool is_there = r < rows;
      const C log_sum = is_there ? arrays.lse[at] : C(0);
      const bool sees = is_there && log_sum != -std::numeric_limits<C>::infinity();
      memory.lse[r] = log_sum;
      memory.delta[r] = is_there ? arrays.delta[at] : C(0);
      memory.visible[r] = sees ? shape.visible_keys(b_, query_ + r) : 0;
    }
  }

  /// Computes `weights`, P (multiplied by the dropout mask M), and `score_grads`, dS. Both are in
  /// shared memory with one row per query.
  __device__ void make_pair(W* weights, W* score_grads) {
    WarpTile<W> scores[AttentionTile<T>::kScoreTiles];
    WarpTile<W> weight_grads[AttentionTile<T>::kScoreTiles];
    multiply(arrays.q, arrays.k, shape.width, scores);
    multiply(arrays.out_grad, arrays.v, shape.value_width, weight_grads);
    PHI_UNROLL(2)
    for (int i = 0; i < AttentionTile<T>::kScoreTiles; ++i) {
      PHI_UNROLL(8)
      for (int e = 0; e < kTileOfLane; ++e) {
        const int r = warp.band + places.row(e);
        const int column = warp.column(i) + places.column(e);
        const PairGrad pair = pair_grad(r, column, scores[i][e], weight_grads[i][e]);
        if (weights) weights[r * GradMemory<T>::kPairStride + column] = static_cast<W>(pair.weight);
        score_grads[r * GradMemory<T>::kPairStride + column] = static_cast<W>(pair.score_grad);
      }
    }
  }

  /// The tile's rows of arrays with the layout of q and of k.
  __device__ HeadRows<T> query_rows(const T* data, int64_t width) const {
    return {data, b_ * shape.sq + query_, shape.heads, h_, width};
  }
  __device__ HeadRows<T> key_rows(const T* data, int64_t width) const {
    return {data, shape.key_batch(b_) * shape.sk + key_, shape.kv_heads, shape.key_head(h_), width};
  }

  const GradArrays<T>& arrays;
  const AttentionShape& shape;
  GradMemory<T>& memory;
  const WarpPosition<T> warp{};
  const TileCoordinates<W> places{};
  int64_t rows = 0;  // queries of this tile
  int64_t keys = 0;  // keys of this tile

 private:
  struct PairGrad {
    C weight;
    C score_grad;
  };
  __device__ static int64_t clamped(int64_t n) {
    return n < AttentionTile<T>::kEdge ? n : AttentionTile<T>::kEdge;
  }

  /// tiles += the queries' rows of `left` times the transposed keys' rows of `right`.
  __device__ void multiply(const T* left, const T* right, int64_t width,
                           WarpTile<W> (&tiles)[AttentionTile<T>::kScoreTiles]) {
    PHI_UNROLL(1)
    for (int64_t column = 0; column < width; column += AttentionTile<T>::kDepth) {
      __syncthreads();  // the previous parts have been read
      load_part(query_rows(left, width), rows, column, width, memory.left);
      load_part(key_rows(right, width), keys, column, width, memory.right);
      __syncthreads();
      PHI_UNROLL(2)
      for (int i = 0; i < AttentionTile<T>::kScoreTiles; ++i) {
        tiles[i].template multiply_accumulate<TileLayout::kRows, TileLayout::kColumns>(
            memory.left + warp.band * AttentionTile<T>::kStride, AttentionTile<T>::kStride,
            memory.right + warp.column(i) * AttentionTile<T>::kStride, AttentionTile<T>::kStride,
            depth_of<T>(column, width));
      }
    }
  }

  __device__ PairGrad pair_grad(int r, int column, C score, C weight_grad) const {
    if (key_ + column >= memory.visible[r]) return {C(0), C(0)};
    C logit = score * static_cast<C>(shape.scale);
    if (mask_.data) logit += static_cast<C>(mask_.row(b_, h_, query_ + r)[key_ + column]);
    const C weight = fast::exp_or_zero(logit - memory.lse[r]);
    if (!drops_.is_active) return {weight, weight * (weight_grad - memory.delta[r])};
    const C factor =
        drops_.factor_of<C>(shape.drops, shape.global_row(b_, h_, query_ + r), key_ + column);
    const C kept = factor == C(0) ? C(0) : weight * factor;
    return {kept, kept * weight_grad - weight * memory.delta[r]};
  }

  const AttentionMask<T>& mask_;
  const AttentionDropoutMask& drops_;
  int64_t b_ = 0, h_ = 0, query_ = 0, key_ = 0;
};

/// A warp's share of a block's sums [kEdge, kColumns].
template <typename T>
struct BlockSums {
  using W = operand_t<T>;
  WarpTile<W> tiles[AttentionTile<T>::kSumTiles];  // initially zero

  /// Adds `pair`, or its transpose, times the columns [first, first + kColumns) of the rows `from`.
  template <TileLayout kLayout>
  __device__ void add(const GradTile<T>& tile, const W* pair, const HeadRows<T>& from, int64_t rows,
                      int64_t first, int64_t width, W* part) {
    constexpr int kStride = GradMemory<T>::kPairStride;
    PHI_UNROLL(2)
    for (int p = 0; p < AttentionTile<T>::kParts; ++p) {
      const int64_t column = first + p * AttentionTile<T>::kDepth;
      if (column >= width) break;
      __syncthreads();  // the previous part has been read, and the pair written
      load_part(from, rows, column, width, part);
      __syncthreads();
      const int band = tile.warp.band;
      PHI_UNROLL(2)
      for (int i = 0; i < AttentionTile<T>::kPartTiles; ++i) {
        tiles[p * AttentionTile<T>::kPartTiles + i]
            .template multiply_accumulate<kLayout, TileLayout::kRows>(
                pair + (kLayout == TileLayout::kRows ? band * kStride : band), kStride,
                part + tile.warp.column(i), AttentionTile<T>::kStride, AttentionTile<T>::kEdge);
      }
    }
  }

  /// Writes the sums times `scale` to the columns from `first` on of the rows row, row + stride, ..
  /// of an array.
  __device__ void write(const GradTile<T>& tile, compute_t<T> scale, T* to, int64_t stride,
                        int64_t rows, int64_t first, int64_t width) {
    PHI_UNROLL(4)
    for (int i = 0; i < AttentionTile<T>::kSumTiles; ++i) {
      const int64_t from = first + i / AttentionTile<T>::kPartTiles * AttentionTile<T>::kDepth +
                           tile.warp.column(i % AttentionTile<T>::kPartTiles);
      PHI_UNROLL(8)
      for (int e = 0; e < kTileOfLane; ++e) {
        const int64_t r = tile.warp.band + tile.places.row(e);
        const int64_t column = from + tile.places.column(e);
        if (r < rows && column < width)
          to[r * stride + column] = static_cast<T>(scale * tiles[i][e]);
      }
    }
  }
};

template <typename T>
struct QueryGradMemory {
  GradMemory<T> tile;
  alignas(32) operand_t<T> score_grads[GradMemory<T>::kPair];
};

/// Computes q_grad for the queries from `query` on of a head, columns [first, first + kColumns).
template <typename T>
__device__ void find_query_tile(GradTile<T>& tile, QueryGradMemory<T>& memory, int64_t b, int64_t h,
                                int64_t first, int64_t query) {
  const AttentionShape& shape = tile.shape;
  BlockSums<T> sums;
  tile.select(b, h, query, 0);
  __syncthreads();  // the previous rows have been read
  tile.load_rows();
  const int64_t key_end = shape.visible_keys(b, query + tile.rows - 1);
  for (int64_t key = 0; key < key_end; key += AttentionTile<T>::kEdge) {
    tile.select(b, h, query, key);
    tile.make_pair(nullptr, memory.score_grads);
    sums.template add<TileLayout::kRows>(tile, memory.score_grads,
                                         tile.key_rows(tile.arrays.k, shape.width), tile.keys,
                                         first, shape.width, memory.tile.right);
  }
  T* const to = tile.arrays.q_grad + ((b * shape.sq + query) * shape.heads + h) * shape.width;
  sums.write(tile, static_cast<compute_t<T>>(shape.scale), to, shape.heads * shape.width, tile.rows,
             first, shape.width);
}

template <typename T>
struct KeyGradMemory {
  GradMemory<T> tile;
  alignas(32) operand_t<T> weights[GradMemory<T>::kPair];
  alignas(32) operand_t<T> score_grads[GradMemory<T>::kPair];
};

/// Computes k_grad and v_grad for the keys from `key` on of a key head, columns [first, first +
/// kColumns): sums over the queries of all heads that share it.
template <typename T>
__device__ void find_key_tile(GradTile<T>& tile, KeyGradMemory<T>& memory, int64_t kv_b,
                              int64_t kv_h, int64_t first, int64_t key) {
  const GradArrays<T>& arrays = tile.arrays;
  const AttentionShape& shape = tile.shape;
  BlockSums<T> key_sums;
  BlockSums<T> value_sums;
  const int64_t b = kv_b - shape.kv_batch_shift;
  const int64_t first_head = (kv_h + shape.first_kv_head) * shape.group - shape.first_head;
  const bool has_batch = b >= 0 && b < shape.batch;
  for (int64_t of_group = 0; has_batch && of_group < shape.group; ++of_group) {
    const int64_t h = first_head + of_group;
    if (h < 0 || h >= shape.heads) continue;  // on another rank
    for (int64_t query = 0; query < shape.sq; query += AttentionTile<T>::kEdge) {
      tile.select(b, h, query, key);
      if (shape.visible_keys(b, query + tile.rows - 1) <= key) continue;
      __syncthreads();  // the previous tile's results have been read
      tile.load_rows();
      tile.make_pair(memory.weights, memory.score_grads);
      if (arrays.v_grad) {
        value_sums.template add<TileLayout::kColumns>(
            tile, memory.weights, tile.query_rows(arrays.out_grad, shape.value_width), tile.rows,
            first, shape.value_width, memory.tile.left);
      }
      if (arrays.k_grad) {
        key_sums.template add<TileLayout::kColumns>(
            tile, memory.score_grads, tile.query_rows(arrays.q, shape.width), tile.rows, first,
            shape.width, memory.tile.left);
      }
    }
  }
  const int64_t row = (kv_b * shape.sk + key) * shape.kv_heads + kv_h;
  const int64_t keys = shape.sk - key;
  if (arrays.k_grad) {
    key_sums.write(tile, static_cast<compute_t<T>>(shape.scale), arrays.k_grad + row * shape.width,
                   shape.kv_heads * shape.width, keys, first, shape.width);
  }
  if (arrays.v_grad) {
    value_sums.write(tile, compute_t<T>(1), arrays.v_grad + row * shape.value_width,
                     shape.kv_heads * shape.value_width, keys, first, shape.value_width);
  }
}

/// delta[b, h, i] = rowsum(out_grad * out) for line (b, i, h).
template <typename T>
struct DeltaLine {
  const T* out;
  const T* out_grad;
  compute_t<T>* delta;
  int64_t sq;
  int64_t heads;
  int64_t width;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    using C = compute_t<T>;
    const T* const y = out + line * width;
    const T* const g = out_grad + line * width;
    const C sum = team.template sum<C>(
        width, [&](int64_t k) { return static_cast<C>(y[k]) * static_cast<C>(g[k]); });
    const int64_t h = line % heads;
    const int64_t i = line / heads % sq;
    const int64_t b = line / heads / sq;
    if (team.index() == 0) delta[(b * heads + h) * sq + i] = sum;
  }
};

/// rowsum(out_grad * out) of arrays [.., sq, heads, width], in the layout of lse.
template <typename T>
DenseTensor attention_delta(const GpuContext& ctx, const DenseTensor& out,
                            const DenseTensor& out_grad, const Dims& lse) {
  using C = compute_t<T>;
  DenseTensor delta = DenseTensor::empty({lse, dtype_of<C>()}, ctx.place());
  const int64_t width = out.dims().back();
  const int64_t sq = lse.back();
  for_each_line(ctx, AxisLines::rows(lse.numel(), width),
                DeltaLine<T>{out.data<T>(), out_grad.data<T>(), delta.mutable_data<C>(), sq,
                             lse[lse.ndim() - 2], width});
  return delta;
}

}  // namespace phi::gpu
