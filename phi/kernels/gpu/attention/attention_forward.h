// The forward pass of attention for one tile of queries, for padded and for packed (varlen)
// sequences.
//
// Source: T. Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work
// Partitioning", 2023. A block processes a tile of queries of one head and loops over the tiles of
// keys. Scores are in shared memory, sums of weighted values in registers.
#pragma once

#include <limits>

#include "phi/kernels/gpu/attention/attention_tiles.h"

namespace phi::gpu {

template <typename T>
struct ForwardArrays {
  using C = compute_t<T>;
  const T* q;
  const T* k;
  const T* v;
  T* out;
  T* softmax;  // null: not computed
  C* lse;      // null: not computed
};

/// Number of adjacent threads that share a row of scores.
inline constexpr int kRowThreads = 4;
template <typename C>
__device__ C largest_of_row(C value) {
  PHI_UNROLL(2)
  for (int by = 1; by < kRowThreads; by *= 2) {
    const C other = shuffle(value, ShuffleIdx{(static_cast<int>(threadIdx.x) ^ by) % kWarp});
    value = other > value ? other : value;
  }
  return value;
}
template <typename C>
__device__ C sum_of_row(C value) {
  PHI_UNROLL(2)
  for (int by = 1; by < kRowThreads; by *= 2)
    value += shuffle(value, ShuffleIdx{(static_cast<int>(threadIdx.x) ^ by) % kWarp});
  return value;
}

template <typename T>
struct ForwardMemory {
  using C = compute_t<T>;
  using W = operand_t<T>;
  /// Queries of heads with at most this many columns stay in shared memory for all keys.
  static constexpr int kResident =
      sizeof(T) == 8 ? AttentionTile<T>::kDepth : 2 * AttentionTile<T>::kDepth;
  static constexpr int kScoreStride = AttentionTile<T>::kEdge + 16 / static_cast<int>(sizeof(C));
  static constexpr int kWeightStride =
      kScoreStride * static_cast<int>(sizeof(C)) / static_cast<int>(sizeof(W));

  alignas(32) W queries[kResident / AttentionTile<T>::kDepth][AttentionTile<T>::kPart];
  alignas(32) W others[AttentionTile<T>::kPart];  // a part of the keys or values
  /// A row's weights overwrite its scores.
  alignas(32) C scores[AttentionTile<T>::kEdge * kScoreStride];
  C shrink[AttentionTile<T>::kEdge];

  __device__ W* weights() { return reinterpret_cast<W*>(scores); }
};

/// Computes the output for one tile of queries.
template <typename T>
class ForwardTile {
 public:
  using C = compute_t<T>;
  using W = operand_t<T>;

  __device__ ForwardTile(const ForwardArrays<T>& arrays, const AttentionShape& shape,
                         const AttentionMask<T>& mask, const AttentionDropoutMask& drops,
                         ForwardMemory<T>& memory)
      : arrays_(arrays), shape_(shape), mask_(mask), drops_(drops), memory_(memory) {}

  /// Number of column chunks of the values. It is 1 for values without columns, for callers that
  /// need only the sums of weights.
  PHI_HD static int64_t chunks_of(const AttentionShape& shape) {
    return shape.value_width > 0 ? tiles_of(shape.value_width, AttentionTile<T>::kColumns) : 1;
  }
  /// Computes chunk number `chunk` of the output's columns for the queries from `begin` on.
  __device__ void run(int64_t b, int64_t h, int64_t chunk, int64_t begin) {
    b_ = b;
    h_ = h;
    first_column_ = chunk * AttentionTile<T>::kColumns;
    begin_ = begin;
    rows_ =
        shape_.sq - begin_ < AttentionTile<T>::kEdge ? shape_.sq - begin_ : AttentionTile<T>::kEdge;
    attend();
    finish();
  }

 private:
  __device__ HeadRows<T> query_rows() const {
    return {arrays_.q, b_ * shape_.sq + begin_, shape_.heads, h_, shape_.width};
  }
  __device__ HeadRows<T> key_rows(const T* data, int64_t key, int64_t width) const {
    return {data, shape_.key_batch(b_) * shape_.sk + key, shape_.kv_heads, shape_.key_head(h_),
            width};
  }
  __device__ bool is_resident() const { return shape_.width <= ForwardMemory<T>::kResident; }

  __device__ void load_queries() {
    PHI_UNROLL(1)
    for (int part = 0; part * AttentionTile<T>::kDepth < shape_.width; ++part)
      load_part(query_rows(), rows_, part * AttentionTile<T>::kDepth, shape_.width,
                memory_.queries[part]);
  }

  __device__ void attend() {
    PHI_UNROLL(4)
    for (int i = 0; i < AttentionTile<T>::kSumTiles; ++i) sums_[i].clear();
    most_ = -std::numeric_limits<C>::infinity();
    total_ = 0;
    __syncthreads();  // the previous tile is complete
    if (is_resident()) load_queries();
    const int64_t key_end = shape_.visible_keys(b_, begin_ + rows_ - 1);
    for (int64_t key = 0; key < key_end; key += AttentionTile<T>::kEdge) {
      score(key);
      weigh(key);
      __syncthreads();
      shrink_sums();
      add_values(key);
      __syncthreads();  // the score buffer is free
    }
  }

  /// Computes the scores for keys [key, key + kEdge), without scale and mask.
  __device__ void score(int64_t key) {
    WarpTile<W> tiles[AttentionTile<T>::kScoreTiles];
    const int64_t keys = shape_.keys(b_) - key;
    PHI_UNROLL(1)
    for (int64_t column = 0; column < shape_.width; column += AttentionTile<T>::kDepth) {
      __syncthreads();  // the part before is read
      const int slot = is_resident() ? static_cast<int>(column / AttentionTile<T>::kDepth) : 0;
      if (!is_resident()) load_part(query_rows(), rows_, column, shape_.width, memory_.queries[0]);
      load_part(key_rows(arrays_.k, key, shape_.width), keys, column, shape_.width, memory_.others);
      __syncthreads();
      const int depth = depth_of<T>(column, shape_.width);
      PHI_UNROLL(2)
      for (int i = 0; i < AttentionTile<T>::kScoreTiles; ++i) {
        tiles[i].template multiply_accumulate<TileLayout::kRows, TileLayout::kColumns>(
            memory_.queries[slot] + warp_.band * AttentionTile<T>::kStride,
            AttentionTile<T>::kStride, memory_.others + warp_.column(i) * AttentionTile<T>::kStride,
            AttentionTile<T>::kStride, depth);
      }
    }
    PHI_UNROLL(2)
    for (int i = 0; i < AttentionTile<T>::kScoreTiles; ++i) {
      PHI_UNROLL(8)
      for (int e = 0; e < kTileOfLane; ++e) {
        memory_.scores[(warp_.band + places_.row(e)) * ForwardMemory<T>::kScoreStride +
                       warp_.column(i) + places_.column(e)] = tiles[i][e];
      }
    }
    __syncthreads();
  }

  // ---- rows of scores: four threads per row; a thread has the same four of each 32 columns ----
  static constexpr int kOwn = AttentionTile<T>::kEdge / kRowThreads;
  static constexpr int kWords = 4;                  // words per Philox block
  static constexpr int kOwnBlocks = kOwn / kWords;  // Philox blocks for this thread's weights
  __device__ static int row() { return static_cast<int>(threadIdx.x) / kRowThreads; }
  __device__ static int part() { return static_cast<int>(threadIdx.x) % kRowThreads; }
  /// The column to which word w of Philox block `block` belongs.
  __device__ static int lane_of(int block) { return part() + kRowThreads * (block % 2); }
  __device__ static int column_of(int block, int w) {
    return block / 2 * static_cast<int>(kDropBatch) + lane_of(block) + kDropLanes * w;
  }
  __device__ int64_t query() const { return begin_ + row(); }

  /// Reads this thread's scores of a row. Scores of keys that the query does not see are -inf.
  __device__ void read_row(int64_t key, C (&own)[kOwn]) const {
    const int64_t seen = row() < rows_ ? shape_.visible_keys(b_, query()) - key : 0;
    const T* const added = mask_.data && row() < rows_ ? mask_.row(b_, h_, query()) + key : nullptr;
    PHI_UNROLL(4)
    for (int block = 0; block < kOwnBlocks; ++block) {
      PHI_UNROLL(4)
      for (int w = 0; w < kWords; ++w) {
        const int column = column_of(block, w);
        C score = -std::numeric_limits<C>::infinity();
        if (column < seen) {
          score = memory_.scores[row() * ForwardMemory<T>::kScoreStride + column] *
                  static_cast<C>(shape_.scale);
          if (added) score += static_cast<C>(added[column]);
        }
        own[block * kWords + w] = score;
      }
    }
  }

  __device__ void drop(int64_t key, C (&own)[kOwn]) const {
    const int64_t global = shape_.global_row(b_, h_, query());
    PHI_UNROLL(4)
    for (int block = 0; block < kOwnBlocks; ++block) {
      C factors[kWords];
      drops_.factors(shape_.drops, global, key / kDropBatch + block / 2, lane_of(block), factors);
      PHI_UNROLL(4)
      for (int w = 0; w < kWords; ++w) {
        C& weight = own[block * kWords + w];
        weight = factors[w] == C(0) ? C(0) : weight * factors[w];
      }
    }
  }

  /// One step of the online softmax: replaces scores by weights exp(score - most).
  __device__ void weigh(int64_t key) {
    C own[kOwn];
    read_row(key, own);
    C here = -std::numeric_limits<C>::infinity();
    PHI_UNROLL(16)
    for (int i = 0; i < kOwn; ++i) here = own[i] > here ? own[i] : here;
    here = largest_of_row(here);
    const C before = most_;
    most_ = here > before ? here : before;
    const C shrink = fast::exp_or_zero(before - level());
    total_ *= shrink;
    PHI_UNROLL(16)
    for (int i = 0; i < kOwn; ++i) {
      own[i] = fast::exp_or_zero(own[i] - level());
      total_ += own[i];
    }
    if (drops_.is_active) drop(key, own);
    __syncwarp();  // the row's other threads have read their scores
    PHI_UNROLL(4)
    for (int block = 0; block < kOwnBlocks; ++block) {
      PHI_UNROLL(4)
      for (int w = 0; w < kWords; ++w) {
        memory_.weights()[row() * ForwardMemory<T>::kWeightStride + column_of(block, w)] =
            static_cast<W>(own[block * kWords + w]);
      }
    }
    if (part() == 0) memory_.shrink[row()] = shrink;
  }
  /// The shift of the scores: the row's maximum so far, or 0 while that is -inf.
  __device__ C level() const { return most_ == -std::numeric_limits<C>::infinity() ? C(0) : most_; }

  // ---- sums of weighted values ----
  __device__ void shrink_sums() {
    PHI_UNROLL(4)
    for (int i = 0; i < AttentionTile<T>::kSumTiles; ++i) {
      PHI_UNROLL(8)
      for (int e = 0; e < kTileOfLane; ++e)
        sums_[i][e] *= memory_.shrink[warp_.band + places_.row(e)];
    }
  }

  __device__ void add_values(int64_t key) {
    const int64_t keys = shape_.keys(b_) - key;
    PHI_UNROLL(2)
    for (int p = 0; p < AttentionTile<T>::kParts; ++p) {
      const int64_t column = first_column_ + p * AttentionTile<T>::kDepth;
      if (column >= shape_.value_width) break;
      __syncthreads();  // the part before is read
      load_part(key_rows(arrays_.v, key, shape_.value_width), keys, column, shape_.value_width,
                memory_.others);
      __syncthreads();
      PHI_UNROLL(2)
      for (int i = 0; i < AttentionTile<T>::kPartTiles; ++i) {
        sums_[p * AttentionTile<T>::kPartTiles + i]
            .template multiply_accumulate<TileLayout::kRows, TileLayout::kRows>(
                memory_.weights() + warp_.band * ForwardMemory<T>::kWeightStride,
                ForwardMemory<T>::kWeightStride, memory_.others + warp_.column(i),
                AttentionTile<T>::kStride, AttentionTile<T>::kEdge);
      }
    }
  }

  __device__ void finish() {
    total_ = sum_of_row(total_);
    const C factor = total_ == C(0) ? C(0) : C(1) / total_;
    if (part() == 0) memory_.shrink[row()] = factor;
    __syncthreads();
    shrink_sums();
    write_sums();
    if (first_column_ > 0) return;
    if (part() == 0 && row() < rows_ && arrays_.lse)
      arrays_.lse[shape_.row_of(b_, h_, query())] = most_ + std::log(total_);
    if (arrays_.softmax) write_softmax(factor);
  }

  __device__ void write_sums() {
    PHI_UNROLL(4)
    for (int i = 0; i < AttentionTile<T>::kSumTiles; ++i) {
      const int64_t first = first_column_ +
                            i / AttentionTile<T>::kPartTiles * AttentionTile<T>::kDepth +
                            warp_.column(i % AttentionTile<T>::kPartTiles);
      PHI_UNROLL(8)
      for (int e = 0; e < kTileOfLane; ++e) {
        const int64_t r = warp_.band + places_.row(e);
        const int64_t column = first + places_.column(e);
        if (r >= rows_ || column >= shape_.value_width) continue;
        const int64_t at = (b_ * shape_.sq + begin_ + r) * shape_.heads + h_;
        arrays_.out[at * shape_.value_width + column] = static_cast<T>(sums_[i][e]);
      }
    }
  }

  /// Computes the weights again, once their sums are known, and writes them to `softmax`.
  __device__ void write_softmax(C factor) {
    for (int64_t key = 0; key < shape_.sk; key += AttentionTile<T>::kEdge) {
      score(key);
      C own[kOwn];
      read_row(key, own);
      PHI_UNROLL(16)
      for (int i = 0; i < kOwn; ++i) own[i] = fast::exp_or_zero(own[i] - level()) * factor;
      if (drops_.is_active) drop(key, own);
      if (row() >= rows_) continue;
      T* const to = arrays_.softmax + shape_.row_of(b_, h_, query()) * shape_.sk + key;
      PHI_UNROLL(4)
      for (int block = 0; block < kOwnBlocks; ++block) {
        PHI_UNROLL(4)
        for (int w = 0; w < kWords; ++w) {
          const int column = column_of(block, w);
          if (key + column < shape_.sk) to[column] = static_cast<T>(own[block * kWords + w]);
        }
      }
    }
  }

  const ForwardArrays<T>& arrays_;
  const AttentionShape& shape_;
  const AttentionMask<T>& mask_;
  const AttentionDropoutMask& drops_;
  ForwardMemory<T>& memory_;
  const WarpPosition<T> warp_;
  const TileCoordinates<W> places_{};
  int64_t b_ = 0, h_ = 0, begin_ = 0, rows_ = 0, first_column_ = 0;
  WarpTile<W> sums_[AttentionTile<T>::kSumTiles];
  C most_ = 0;   // maximum of the row's scores so far
  C total_ = 0;  // this thread's share of the sum of exp(score - most)
};

}  // namespace phi::gpu
