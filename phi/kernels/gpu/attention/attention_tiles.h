// Definitions shared by attention and its gradient on GPUs: layout of heads, masks and dropout, and
// loading parts of heads into shared memory.
//
// A block processes a tile of queries or of keys and up to kColumns columns of the sums. It has
// enough threads for one tile of scores.
#pragma once

#include <algorithm>
#include <cstdint>

#include "phi/gpu/launch.h"
#include "phi/kernels/attention_shards.h"
#include "phi/kernels/functors/attention_dropout.h"
#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/gpu/attention/warp_tile.h"

namespace phi::gpu {

/// Tile sizes for elements of T. They are chosen so that a kernel's buffers fit into 48 KiB of
/// shared memory, which every GPU has.
template <typename T>
struct AttentionTile {
  using C = compute_t<T>;
  using W = operand_t<T>;

  static constexpr int kEdge = sizeof(T) == 2 ? 64 : 32;  // queries or keys of a tile
  static constexpr int kThreads = 4 * kEdge;
  /// A tile of scores is divided into bands of 16 rows. Two warps share a band; each processes
  /// every second tile of it.
  static constexpr int kBands = kEdge / kTileEdge;
  static constexpr int kSides = kThreads / kWarp / kBands;
  static constexpr int kScoreTiles = kEdge / kTileEdge / kSides;  // of a warp

  static constexpr int kDepth =
      sizeof(T) == 8 ? 32 : 64;  // columns of a head that a part in shared memory has
  static constexpr int kStride = kDepth + 16 / static_cast<int>(sizeof(T));  // row stride of a part
  static constexpr int kPart = kEdge * kStride;
  static constexpr int kPartTiles = kDepth / kTileEdge / kSides;  // of a warp

  static constexpr int kColumns = 2 * kDepth;
  static constexpr int kParts = kColumns / kDepth;
  static constexpr int kSumTiles = kParts * kPartTiles;  // of a warp

  static_assert(kSides == 2 && kEdge % kDropBatch == 0);
};

/// Position of a row's random words in the dropout stream.
struct DropoutStream {
  int64_t batches;      // batches of words per row
  uint64_t seed_shift;  // added to the seed
};

/// Local extents, and the keys that each query sees. Arrays are [batch, sequence, heads, width].
struct AttentionShape {
  int64_t batch;
  int64_t sq;
  int64_t heads;
  int64_t width;
  int64_t value_width;
  int64_t kv_batch;
  int64_t sk;  // rows of k and v; `lengths` may limit the valid ones
  int64_t kv_heads;
  int64_t group;          // query heads per key head
  int64_t first_batch;    // first batch entry of q in the global tensor
  int64_t first_query;    // first query in the global tensor
  int64_t first_head;     // first head of q in the global tensor
  int64_t global_sq;      // queries of the global tensor
  int64_t global_heads;   // heads of q in the global tensor
  int64_t first_kv_head;  // first head of k in the global tensor
  int64_t kv_batch_shift;
  int64_t kv_batch_step;   // batch entry b uses keys of entry kv_batch_step * b + kv_batch_shift
  const int64_t* lengths;  // null, or the previous lengths of the caches [batch]
  bool causal;
  double scale;         // factor of the scores
  int64_t row_step;     // stride between heads in arrays [batch, heads, queries]
  DropoutStream drops;  // position in the dropout stream

  PHI_HD int64_t keys(int64_t b) const {
    if (!lengths) return sk;
    const int64_t held = lengths[b];
    const int64_t room = sk - sq;
    return sq + (held < 0 ? 0 : (held > room ? room : held));  // others are rejected
  }
  /// Query `i` of batch entry b sees the keys [0, visible_keys(b, i)).
  PHI_HD int64_t visible_keys(int64_t b, int64_t i) const {
    const int64_t all = keys(b);
    if (!causal) return all;
    const int64_t end = i + first_query + all - global_sq + 1;
    return end < 0 ? 0 : (end > all ? all : end);
  }
  PHI_HD int64_t key_batch(int64_t b) const { return kv_batch_step * b + kv_batch_shift; }
  PHI_HD int64_t key_head(int64_t h) const { return (h + first_head) / group - first_kv_head; }
  /// Offset of query i of a head in arrays [batch, heads, queries].
  PHI_HD int64_t row_of(int64_t b, int64_t h, int64_t i) const {
    return (b * heads + h) * row_step + i;
  }
  /// Index of that query's row in the global tensors.
  PHI_HD int64_t global_row(int64_t b, int64_t h, int64_t i) const {
    return ((b + first_batch) * global_heads + h + first_head) * global_sq + i + first_query;
  }
};

inline AttentionShape attention_shape(const DenseTensor& q, const DenseTensor& k,
                                      const DenseTensor& v, const AttentionShards& places,
                                      bool causal) {
  const bool one_batch = places.k.global[0] == 1;
  return {.batch = q.dims()[0],
          .sq = q.dims()[1],
          .heads = q.dims()[2],
          .width = q.dims()[3],
          .value_width = v.dims()[3],
          .kv_batch = k.dims()[0],
          .sk = k.dims()[1],
          .kv_heads = k.dims()[2],
          .group = places.group(),
          .first_batch = places.q.box.offset[0],
          .first_query = places.q.box.offset[1],
          .first_head = places.q.box.offset[2],
          .global_sq = places.q.global[1],
          .global_heads = places.q.global[2],
          .first_kv_head = places.k.box.offset[2],
          .kv_batch_shift = one_batch ? 0 : places.q.box.offset[0] - places.k.box.offset[0],
          .kv_batch_step = one_batch ? 0 : 1,
          .lengths = nullptr,
          .causal = causal,
          .scale = attention_scale(q.dims()[3]),
          .row_step = q.dims()[1],
          .drops = {drop_batches(places.k.global[1]), 0}};
}

/// attn_mask [batch, heads, sq, sk]. Each of the first three extents may be 1, which broadcasts.
template <typename T>
struct AttentionMask {
  const T* data = nullptr;  // null: no mask
  int64_t shift = 0;
  int64_t batch_stride = 0;
  int64_t head_stride = 0;
  int64_t query_stride = 0;

  AttentionMask(const DenseTensor* mask, const AttentionShards& places) {
    if (!mask) return;
    data = mask->data<T>();
    const Dims strides = mask->dims().strides();
    const auto stride = [&](int d, int of_q) {
      if (places.mask.global[d] == 1) return int64_t{0};
      shift += (places.q.box.offset[of_q] - places.mask.box.offset[d]) * strides[d];
      return strides[d];
    };
    batch_stride = stride(0, 0);
    head_stride = stride(1, 2);
    query_stride = stride(2, 1);
  }
  PHI_HD const T* row(int64_t b, int64_t h, int64_t i) const {
    return data + shift + b * batch_stride + h * head_stride + i * query_stride;
  }
};

/// The weights that dropout removes (functors/attention_dropout.h). The seed is in GPU memory.
struct AttentionDropoutMask {
  bool is_active = false;
  const int64_t* seed_offset = nullptr;  // null: seed and offset are 0
  uint32_t threshold = 0;
  double factor = 1;

  AttentionDropoutMask(const DenseTensor* given, float probability, bool is_test) {
    if (probability == 0.0f || is_test) return;
    is_active = true;
    if (given) seed_offset = given->data<int64_t>();
    threshold = drop_threshold(probability);
    factor = kept_factor(probability);
  }
  PHI_HD int64_t seed() const { return seed_offset ? seed_offset[0] : 0; }
  PHI_HD int64_t offset() const { return seed_offset ? seed_offset[1] : 0; }

  /// Factors of the weights for the keys kDropBatch * batch + 8 * w + s of a row, 0 <= w < 4.
  template <typename C>
  __device__ void factors(const DropoutStream& of_rows, int64_t row, int64_t batch, int s,
                          C (&of_word)[4]) const {
    const PhiloxBlock words =
        philox(drop_counter(static_cast<uint64_t>(row * of_rows.batches + batch), s,
                            static_cast<uint64_t>(offset())),
               philox_key(static_cast<uint64_t>(seed()) + of_rows.seed_shift));
    PHI_UNROLL(4)
    for (int w = 0; w < 4; ++w)
      of_word[w] = words.word[w] < threshold ? C(0) : static_cast<C>(factor);
  }
  /// Factor of the weight for one key.
  template <typename C>
  __device__ C factor_of(const DropoutStream& of_rows, int64_t row, int64_t key) const {
    const int at = static_cast<int>(key % kDropBatch);
    C of_word[4];
    factors(of_rows, row, key / kDropBatch, at % kDropLanes, of_word);
    C own = of_word[0];
    PHI_UNROLL(3)
    for (int w = 1; w < 4; ++w) own = at / kDropLanes == w ? of_word[w] : own;
    return own;
  }
};

/// Copies the given seed_offset, or zeros if there is none.
struct CopySeed {
  const int64_t* given;
  PHI_HD int64_t operator()(int64_t i) const { return given ? given[i] : 0; }
};

/// Rows of one head of an array [batch, sequence, heads, width], beginning at a given row.
template <typename T>
struct HeadRows {
  const T* first;
  int64_t stride;

  __device__ HeadRows(const T* data, int64_t row, int64_t heads, int64_t head, int64_t width)
      : first(data + (row * heads + head) * width), stride(heads * width) {}
};

/// Loads columns [column, column + kDepth) of `rows` rows into shared memory. Rows and columns
/// beyond the head's are zero.
template <typename T>
__device__ void load_part(const HeadRows<T>& from, int64_t rows, int64_t column, int64_t width,
                          operand_t<T>* part) {
  constexpr int kVector = 16 / static_cast<int>(sizeof(T));
  const T* const first = from.first + column;
  const bool is_even = reinterpret_cast<uintptr_t>(first) % 16 == 0 && from.stride % kVector == 0 &&
                       width % kVector == 0;
  if (is_even) {
    constexpr int kVectors = AttentionTile<T>::kDepth / kVector;  // vectors per row
    for (int i = static_cast<int>(threadIdx.x); i < AttentionTile<T>::kEdge * kVectors;
         i += AttentionTile<T>::kThreads) {
      const int r = i / kVectors;
      const int c = i % kVectors * kVector;
      uint4 bytes{0, 0, 0, 0};
      if (r < rows && column + c < width)
        bytes = *reinterpret_cast<const uint4*>(first + r * from.stride + c);
      *reinterpret_cast<uint4*>(part + r * AttentionTile<T>::kStride + c) = bytes;
    }
    return;
  }
  const auto* const elements = reinterpret_cast<const operand_t<T>*>(first);
  for (int i = static_cast<int>(threadIdx.x);
       i < AttentionTile<T>::kEdge * AttentionTile<T>::kDepth; i += AttentionTile<T>::kThreads) {
    const int r = i / AttentionTile<T>::kDepth;
    const int c = i % AttentionTile<T>::kDepth;
    const bool is_there = r < rows && column + c < width;
    part[r * AttentionTile<T>::kStride + c] =
        is_there ? elements[r * from.stride + c] : operand_t<T>(0.0f);
  }
}

/// Depth of a matmul over the part that begins at `column`: its columns, rounded up to whole tiles.
template <typename T>
__device__ int depth_of(int64_t column, int64_t width) {
  const int64_t left = width - column;
  const int depth =
      left < AttentionTile<T>::kDepth ? static_cast<int>(left) : AttentionTile<T>::kDepth;
  return (depth + kTileEdge - 1) / kTileEdge * kTileEdge;
}

/// A warp's share of the tiles of its block.
template <typename T>
struct WarpPosition {
  int band =
      static_cast<int>(threadIdx.x) / kWarp % AttentionTile<T>::kBands * kTileEdge;  // first row
  int side = static_cast<int>(threadIdx.x) / kWarp / AttentionTile<T>::kBands;

  /// First column of the warp's tile number i.
  __device__ int column(int i) const { return (side + AttentionTile<T>::kSides * i) * kTileEdge; }
};

/// Number of tiles of `edge` that cover n.
PHI_HD int64_t tiles_of(int64_t n, int64_t edge) { return (n + edge - 1) / edge; }

/// Head and tile that a block processes.
struct TileIndex {
  int64_t head;
  int64_t tile;
};
/// Maps block number `item` to a head and tile. Groups of heads are processed one after another.
/// Within a group the last tiles of queries, which see the most keys, come first, so that no long
/// block runs alone at the end.
__device__ inline TileIndex tile_index(int64_t item, int64_t items, int64_t tiles) {
  constexpr int64_t kHeads = 8;  // heads whose keys and values fit in the cache together
  const int64_t first = item / (kHeads * tiles) * kHeads;
  const int64_t left = items / tiles - first;
  const int64_t heads = left < kHeads ? left : kHeads;
  const int64_t place = item - first * tiles;
  return {first + place % heads, tiles - 1 - place / heads};
}

/// Number of blocks for a grid-stride kernel: one per item, limited by the largest grid.
inline unsigned blocks_of(int64_t items) {
  return static_cast<unsigned>(std::clamp<int64_t>(items, 1, (int64_t{1} << 31) - 1));
}

}  // namespace phi::gpu
