// Attention on GPUs, for whole sequences and over the caches of generation. The CPU kernels of the
// same names state the semantics.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/attention.h"
#include "phi/kernels/gpu/attention/attention_forward.h"
#include "phi/kernels/gpu/attention/attention_in_registers.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace gpu {
namespace {

/// One block per tile of queries.
template <typename T>
__global__ void __launch_bounds__(AttentionTile<T>::kThreads, 1)
    attend(int64_t items, ForwardArrays<T> arrays, AttentionShape shape, AttentionMask<T> mask,
           AttentionDropoutMask drops) {
  __shared__ ForwardMemory<T> memory;
  ForwardTile<T> tile(arrays, shape, mask, drops, memory);
  const int64_t tiles = tiles_of(shape.sq, AttentionTile<T>::kEdge);
  const int64_t chunks = ForwardTile<T>::chunks_of(shape);
  for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const TileIndex at = tile_index(item, items, tiles);
    const int64_t head = at.head / chunks;
    tile.run(head / shape.heads, head % shape.heads, at.head % chunks,
             at.tile * AttentionTile<T>::kEdge);
  }
}

template <typename T>
void launch_attention(const GpuContext& ctx, const ForwardArrays<T>& arrays,
                      const AttentionShape& shape, const AttentionMask<T>& mask,
                      const AttentionDropoutMask& drops) {
  using Tile = AttentionTile<T>;
  const int64_t items = shape.batch * shape.heads * ForwardTile<T>::chunks_of(shape) *
                        tiles_of(shape.sq, Tile::kEdge);
  if (items == 0) return;
  if constexpr (kIs16Bit<T>) {
    const bool needs_weights = mask.data || drops.is_active || arrays.softmax;
    if (!needs_weights && fit_registers<T>(shape, arrays.q, arrays.k, arrays.v, arrays.out)) {
      return shape.width == 64 ? run_in_registers<AttentionInRegisters<T, 64>>(ctx, arrays, shape)
                               : run_in_registers<AttentionInRegisters<T, 128>>(ctx, arrays, shape);
    }
  }
  launch(ctx, attend<T>, blocks_of(items), Tile::kThreads, items, arrays, shape, mask, drops);
}

/// Appends element i of x [batch, added, row] to the cache entry `batch`, after its valid
/// positions.
template <typename T>
__global__ void append_positions(const T* x, int64_t n, int64_t added, int64_t row, int64_t room,
                                 const int64_t* lengths, T* cache) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    const int64_t b = i / (added * row);
    const int64_t held = lengths[b];
    if (held < 0 || held > room - added) continue;  // rejected by the device-side assertion
    cache[(b * room + held) * row + i - b * added * row] = x[i];
  }
}

template <typename T>
void append(const GpuContext& ctx, const DenseTensor& x, const DenseTensor& lengths,
            DenseTensor* cache) {
  if (x.numel() == 0) return;
  const Dims& dims = x.dims();
  launch(ctx, append_positions<T>, blocks_for(ctx, x.numel()), kBlock, x.data<T>(), x.numel(),
         dims[1], dims[2] * dims[3], cache->dims()[1], lengths.data<int64_t>(),
         cache->mutable_data<T>());
}

struct HoldsMore {
  int64_t most;
  PHI_HD bool operator()(int64_t held) const { return held < 0 || held > most; }
};

}  // namespace
}  // namespace gpu

template <typename T, typename Context>
void FlashAttentionKernel(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                          const DenseTensor& v, const DenseTensor* fixed_seed_offset,
                          const DenseTensor* attn_mask, float dropout, bool causal,
                          bool return_softmax, bool is_test, DenseTensor* out, DenseTensor* softmax,
                          DenseTensor* softmax_lse, DenseTensor* seed_offset) {
  const AttentionShards places = attention_shards(ctx, q, k, v, attn_mask, 4);
  places.check_keys();
  if (attn_mask) places.check_mask();
  const gpu::AttentionDropoutMask drops(fixed_seed_offset, dropout, is_test);
  if (drops.is_active && seed_offset) {
    index_loop(ctx, seed_offset->mutable_data<int64_t>(), seed_offset->numel(),
               gpu::CopySeed{drops.seed_offset});
  }
  if (q.dims().numel(0, 3) == 0) return;
  const bool wants_softmax = return_softmax && softmax;
  const gpu::ForwardArrays<T> arrays{q.data<T>(),
                                     k.data<T>(),
                                     v.data<T>(),
                                     out->mutable_data<T>(),
                                     wants_softmax ? softmax->mutable_data<T>() : nullptr,
                                     softmax_lse->mutable_data<compute_t<T>>()};
  gpu::launch_attention<T>(ctx, arrays, gpu::attention_shape(q, k, v, places, causal),
                           {attn_mask, places}, drops);
}

template <typename T, typename Context>
void FlashAttentionWithKvcacheKernel(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                                     const DenseTensor& v, const DenseTensor& k_cache,
                                     const DenseTensor& v_cache, const DenseTensor& cache_seqlens,
                                     DenseTensor* out, DenseTensor* k_cache_out,
                                     DenseTensor* v_cache_out) {
  const AttentionShards places = attention_shards(ctx, q, k, v, nullptr, 0);
  places.check_keys();
  const int64_t added = q.dims()[1];
  const int64_t room = k_cache.dims()[1];
  check_elements<int64_t>(ctx, cache_seqlens, gpu::HoldsMore{room - added},
                          {.argument = "cache_seqlens",
                           .raise =
                               [](const DeviceAssertion& found) {
                                 throw_no_room_in_cache(found.value, found.extent, found.begin);
                               },
                           .extent = room,
                           .begin = added});
  keep(ctx, k_cache, k_cache_out);
  keep(ctx, v_cache, v_cache_out);
  gpu::append<T>(ctx, k, cache_seqlens, k_cache_out);
  gpu::append<T>(ctx, v, cache_seqlens, v_cache_out);
  if (q.dims().numel(0, 3) == 0) return;
  gpu::AttentionShape shape =
      gpu::attention_shape(q, *k_cache_out, *v_cache_out, places, /*causal=*/true);
  shape.lengths = cache_seqlens.data<int64_t>();
  const gpu::ForwardArrays<T> arrays{
      q.data<T>(), k_cache_out->data<T>(), v_cache_out->data<T>(), out->mutable_data<T>(), nullptr,
      nullptr};
  gpu::launch_attention<T>(ctx, arrays, shape, {nullptr, places},
                           gpu::AttentionDropoutMask(nullptr, 0, true));
}

PHI_REGISTER_KERNEL(flash_attention, GPU, FlashAttentionKernel, Floats);
PHI_REGISTER_KERNEL(flash_attention_with_kvcache, GPU, FlashAttentionWithKvcacheKernel, Floats);

}  // namespace phi
