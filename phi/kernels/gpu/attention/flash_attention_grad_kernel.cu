// Gradient of attention on GPUs. The CPU kernel of the same name states the formulas.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/attention.h"
#include "phi/kernels/gpu/attention/attention_grad.h"
#include "phi/kernels/gpu/attention/attention_grad_in_registers.h"

namespace phi {
namespace gpu {
namespace {

/// One block per tile of queries: [batch, heads, parts of the width, tiles]. The tiles that see the
/// most keys come first.
template <typename T>
__global__ void __launch_bounds__(AttentionTile<T>::kThreads, 1)
    find_query_grad(int64_t items, GradArrays<T> arrays, AttentionShape shape,
                    AttentionMask<T> mask, AttentionDropoutMask drops) {
  using Tile = AttentionTile<T>;
  __shared__ QueryGradMemory<T> memory;
  GradTile<T> tile(arrays, shape, mask, drops, memory.tile);
  const int64_t tiles = tiles_of(shape.sq, Tile::kEdge);
  const int64_t chunks = tiles_of(shape.width, Tile::kColumns);
  for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const int64_t head = item / tiles / chunks;
    find_query_tile(tile, memory, head / shape.heads, head % shape.heads,
                    item / tiles % chunks * Tile::kColumns,
                    (tiles - 1 - item % tiles) * Tile::kEdge);
  }
}

/// One block per tile of keys: [kv_batch, kv_heads, parts of the widths, tiles].
template <typename T>
__global__ void __launch_bounds__(AttentionTile<T>::kThreads, 1)
    find_key_grads(int64_t items, GradArrays<T> arrays, AttentionShape shape, AttentionMask<T> mask,
                   AttentionDropoutMask drops) {
  using Tile = AttentionTile<T>;
  __shared__ KeyGradMemory<T> memory;
  GradTile<T> tile(arrays, shape, mask, drops, memory.tile);
  const int64_t tiles = tiles_of(shape.sk, Tile::kEdge);
  const int64_t widest = shape.width > shape.value_width ? shape.width : shape.value_width;
  const int64_t chunks = tiles_of(widest, Tile::kColumns);
  for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const int64_t head = item / tiles / chunks;
    find_key_tile(tile, memory, head / shape.kv_heads, head % shape.kv_heads,
                  item / tiles % chunks * Tile::kColumns, item % tiles * Tile::kEdge);
  }
}

template <int kWidth, typename T>
void launch_in_registers(const GpuContext& ctx, const GradArrays<T>& arrays,
                         const AttentionShape& shape) {
  if (arrays.q_grad) run_in_registers<QueryGradInRegisters<T, kWidth>>(ctx, arrays, shape);
  if (arrays.k_grad || arrays.v_grad)
    run_in_registers<KeyGradsInRegisters<T, kWidth>>(ctx, arrays, shape);
}

template <typename T>
void launch_gradients(const GpuContext& ctx, const GradArrays<T>& arrays,
                      const AttentionShape& shape, const AttentionMask<T>& mask,
                      const AttentionDropoutMask& drops) {
  if constexpr (kIs16Bit<T>) {
    if (!mask.data && !drops.is_active &&
        fit_registers<T>(shape, arrays.q, arrays.k, arrays.v, arrays.out_grad, arrays.q_grad,
                         arrays.k_grad, arrays.v_grad)) {
      return shape.width == 64 ? launch_in_registers<64>(ctx, arrays, shape)
                               : launch_in_registers<128>(ctx, arrays, shape);
    }
  }
  using Tile = AttentionTile<T>;
  const auto run = [&](auto kernel, int64_t items) {
    if (items > 0)
      launch(ctx, kernel, blocks_of(items), Tile::kThreads, items, arrays, shape, mask, drops);
  };
  if (arrays.q_grad) {
    run(find_query_grad<T>, shape.batch * shape.heads * tiles_of(shape.width, Tile::kColumns) *
                                tiles_of(shape.sq, Tile::kEdge));
  }
  if (arrays.k_grad || arrays.v_grad) {
    run(find_key_grads<T>, shape.kv_batch * shape.kv_heads *
                               tiles_of(std::max(shape.width, shape.value_width), Tile::kColumns) *
                               tiles_of(shape.sk, Tile::kEdge));
  }
}

}  // namespace
}  // namespace gpu

template <typename T, typename Context>
void FlashAttentionGradKernel(const Context& ctx, const DenseTensor& q, const DenseTensor& k,
                              const DenseTensor& v, const DenseTensor& out,
                              const DenseTensor& softmax_lse, const DenseTensor* seed_offset,
                              const DenseTensor* attn_mask, const DenseTensor& out_grad,
                              float dropout, bool causal, bool is_test, DenseTensor* q_grad,
                              DenseTensor* k_grad, DenseTensor* v_grad) {
  using C = compute_t<T>;
  const AttentionShards places = attention_shards(ctx, q, k, v, attn_mask, 6);
  places.check_keys();
  if (attn_mask) places.check_mask();
  if (k.dims()[2] == 0) return;
  const DenseTensor delta = gpu::attention_delta<T>(ctx, out, out_grad, softmax_lse.dims());
  const auto data_of = [](DenseTensor* x) { return x ? x->mutable_data<T>() : nullptr; };
  const gpu::GradArrays<T> arrays{q.data<T>(),        k.data<T>(),           v.data<T>(),
                                  out_grad.data<T>(), softmax_lse.data<C>(), delta.data<C>(),
                                  data_of(q_grad),    data_of(k_grad),       data_of(v_grad)};
  gpu::launch_gradients<T>(ctx, arrays, gpu::attention_shape(q, k, v, places, causal),
                           {attn_mask, places},
                           gpu::AttentionDropoutMask(seed_offset, dropout, is_test));
}

PHI_REGISTER_KERNEL(flash_attention_grad, GPU, FlashAttentionGradKernel, Floats);

}  // namespace phi
