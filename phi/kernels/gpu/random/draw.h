// Random numbers for one shard of a tensor on a GPU. An element's draw depends only on the seed and
// on its index in the global tensor, as on the CPU.
#pragma once

#include <cstdint>

#include "phi/core/box.h"
#include "phi/gpu/launch.h"
#include "phi/gpu/pack.h"
#include "phi/gpu/walk.h"
#include "phi/kernels/functors/philox.h"

namespace phi::gpu {

/// A seed: a number, or the only element of an integer array.
struct SeedSource {
  uint64_t number;
  const int64_t* wide;
  const int32_t* narrow;
  __device__ PhiloxKey key() const {
    if (wide) return philox_key(static_cast<uint64_t>(*wide));
    return philox_key(narrow ? static_cast<uint64_t>(int64_t{*narrow}) : number);
  }
};
inline SeedSource seed_source(int64_t seed) {
  return {static_cast<uint64_t>(seed), nullptr, nullptr};
}

/// Global indices of the elements of a shard.
struct GlobalIndex {
  int64_t first = 0;
  Walk<1> walk;
  PHI_HD int64_t of(int64_t i) const { return first + walk.offsets(i).at[0]; }
  /// Whether adjacent elements of the shard are adjacent in the global tensor, and its first
  /// element begins a Philox block of four words.
  bool lies_in_blocks() const {
    const bool is_dense = walk.ndim == 0 || (walk.ndim == 1 && walk.strides[0][0] == 1);
    return is_dense && first % 4 == 0;
  }
};
inline GlobalIndex global_index(const ShardBox& where) {
  const Dims strides = where.global.strides();
  GlobalIndex index;
  for (int d = where.box.ndim() - 1; d >= 0; --d) {
    index.first += where.box.offset[d] * strides[d];
    if (where.box.size[d] != 1) index.walk.append(where.box.size[d], {strides[d]});
  }
  return index;
}

/// Word `w` of a block, by selects: indexing with a run-time value would move the block to local
/// memory.
PHI_HD uint32_t word_of(const PhiloxBlock& block, int w) {
  const uint32_t low = (w & 1) != 0 ? block.word[1] : block.word[0];
  const uint32_t high = (w & 1) != 0 ? block.word[3] : block.word[2];
  return (w & 2) != 0 ? high : low;
}

/// Calls f.put<k>(i, block, w) until all n elements are covered. A call covers the k elements from
/// i on, whose words are those of `block` from w on. The first `fours` groups of four elements use
/// all words of one block each (k = 4). The remaining elements are assigned to threads in groups of
/// four adjacent ones, which mostly share a block.
template <typename F>
__global__ void draw_blocks(GlobalIndex index, int64_t fours, int64_t n, SeedSource seed,
                            RandomUse use, F f) {
  const PhiloxKey key = seed.key();
  for (int64_t four = first_item(); four < fours; four += item_stride()) {
    const auto number = static_cast<uint64_t>(index.first / 4 + four);
    f.template put<4>(4 * four, philox(philox_counter(number, use), key), 0);
  }
  const int64_t all = (n + 3) / 4;
  for (int64_t four = fours + first_item(); four < all; four += item_stride()) {
    int64_t drawn = -1;
    PhiloxBlock block{};
    PHI_UNROLL(4)
    for (int k = 0; k < 4; ++k) {
      const int64_t i = 4 * four + k;
      if (i >= n) break;
      const int64_t global = index.of(i);
      if (global / 4 != drawn) {
        drawn = global / 4;
        block = philox(philox_counter(static_cast<uint64_t>(drawn), use), key);
      }
      f.template put<1>(i, block, static_cast<int>(global % 4));
    }
  }
}

/// Draws all elements of a shard. F has put<k> as in draw_blocks, and lie_in_fours(), which reports
/// whether each array that it accesses is aligned to packs of 4.
template <typename F>
void draw(const GpuContext& ctx, const ShardBox& where, const SeedSource& seed, RandomUse use,
          const F& f) {
  const int64_t n = where.box.numel();
  if (n == 0) return;
  const GlobalIndex index = global_index(where);
  const int64_t fours = index.lies_in_blocks() && f.lie_in_fours() ? n / 4 : 0;
  launch(ctx, draw_blocks<F>, blocks_for(ctx, (n + 3) / 4), kBlock, index, fours, n, seed, use, f);
}

/// The functor of most kernels: out[i] = value(block, w).
template <typename T, typename Value>
struct DrawTo {
  T* out;
  Value value;
  bool lie_in_fours() const { return are_pack_aligned<4>(out); }
  template <int kCount>
  __device__ void put(int64_t i, const PhiloxBlock& block, int w) const {
    Pack<T, kCount> pack;
    PHI_UNROLL(4)
    for (int e = 0; e < kCount; ++e) pack.element[e] = value(block, w + e);
    put_pack<kCount>(out + i, 0, pack);
  }
};
template <typename T, typename Value>
void draw_to(const GpuContext& ctx, const ShardBox& where, const SeedSource& seed, RandomUse use,
             T* out, const Value& value) {
  draw(ctx, where, seed, use, DrawTo<T, Value>{out, value});
}

}  // namespace phi::gpu
