// out[i] = f(in[i]...) on a GPU, 16 bytes at a time where all arrays lie so.
#pragma once

#include <array>
#include <cstdint>

#include "phi/gpu/launch.h"
#include "phi/gpu/pack.h"
#include "phi/gpu/walk.h"
#include "phi/kernels/broadcast_dims.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/functors/rare_form.h"

namespace phi::gpu {

/// F takes so many steps that no kernel of it waits for memory: a thread gets one element at a
/// time. More would only take compilers their time, which for these is minutes.
template <typename F>
inline constexpr bool is_long = false;

/// 16-bit floats are computed in float; the result is stored in the output's type.
template <typename Out, typename F, typename... In>
__device__ Out map_element(const F& f, In... in) {
  return static_cast<Out>(detail::apply(f, static_cast<compute_t<In>>(in)...));
}

template <int kWidth, typename Out, typename F, typename... In>
__device__ void map_pack(Pack<Out, kWidth>* out, const F& f, const Pack<In, kWidth>&... in) {
  Pack<Out, kWidth> result;
  PHI_UNROLL(16)
  for (int e = 0; e < kWidth; ++e) result.element[e] = map_element<Out>(f, in.element[e]...);
  *out = result;
}

/// `packs` whole packs, and what is left behind them, element by element; of packs of one there are
/// none.
template <int kWidth, typename Out, typename F, typename... In>
__global__ void map_packs(Out* out, int64_t packs, int64_t n, F f, const In*... in) {
  if constexpr (kWidth > 1) {
    for (int64_t i = first_item(); i < packs; i += item_stride()) {
      map_pack<kWidth>(reinterpret_cast<Pack<Out, kWidth>*>(out) + i, f, pack_at<kWidth>(in, i)...);
    }
  }
  const int64_t rest = kWidth > 1 ? packs * kWidth : 0;
  PHI_UNROLL(1)
  for (int64_t i = rest + first_item(); i < n; i += item_stride()) {
    out[i] = map_element<Out>(f, in[i]...);
  }
}

/// kWidth neighbours, or the one element that stands for them.
template <int kWidth, typename T>
__device__ Pack<T, kWidth> walked_pack(const T* from, bool moves) {
  if (moves) return pack_at<kWidth>(from, 0);
  Pack<T, kWidth> pack;
  PHI_UNROLL(16)
  for (int e = 0; e < kWidth; ++e) pack.element[e] = *from;
  return pack;
}

/// The same of inputs that broadcast: `walk` says where each of them lies, of all packs, or of all
/// elements if there are none.
template <int kWidth, typename Out, typename F, typename In, size_t... k>
__device__ void map_walked(Out* out, int64_t packs, int64_t n, const F& f,
                           const std::array<const In*, sizeof...(k)>& in,
                           const Walk<static_cast<int>(sizeof...(k))>& walk,
                           std::index_sequence<k...>) {
  const bool by_packs = kWidth > 1 && packs > 0;
  const int64_t items = by_packs ? packs : n;
  for (int64_t i = first_item(); i < items; i += item_stride()) {
    const Offsets<sizeof...(k)> from = walk.offsets(i);
    if (by_packs) {
      map_pack<kWidth>(reinterpret_cast<Pack<Out, kWidth>*>(out) + i, f,
                       walked_pack<kWidth>(in[k] + from.at[k], walk.strides[k][0] != 0)...);
    } else {
      out[i] = map_element<Out>(f, in[k][from.at[k]]...);
    }
  }
}
template <int kWidth, typename Out, typename F, typename In, size_t kInputs>
__global__ void map_walk(Out* out, int64_t packs, int64_t n, F f, std::array<const In*, kInputs> in,
                         Walk<static_cast<int>(kInputs)> walk) {
  map_walked<kWidth>(out, packs, n, f, in, walk, std::make_index_sequence<kInputs>());
}

/// All arrays have n elements; out may be one of the others.
template <typename Out, typename F, typename... In>
void map(const GpuContext& ctx, Out* out, int64_t n, const F& f, const In*... in) {
  constexpr size_t kWidest = std::max({sizeof(Out), sizeof(In)...});
  constexpr int kWidth = is_long<F> ? 1 : pack_width(kWidest);
  const PackCount count = count_packs(ctx, n, kWidth, lie_in_packs<kWidth>(out, in...));
  if (count.blocks == 0) return;
  // One kernel serves both: compilers take their time for each.
  launch(ctx, map_packs<kWidth, Out, F, In...>, count.blocks, kBlock, out, count.packs, n, f,
         in...);
}

/// out[i] = f(i), as it is.
template <typename Out, typename F>
__global__ void map_indices(Out* out, int64_t n, F f) {
  for (int64_t i = first_item(); i < n; i += item_stride()) out[i] = f(i);
}
template <typename Out, typename F>
void map_index(const GpuContext& ctx, Out* out, int64_t n, const F& f) {
  if (n > 0) launch(ctx, map_indices<Out, F>, blocks_for(ctx, n), kBlock, out, n, f);
}

/// Where inputs of these dims lie that broadcast to `out_dims`.
template <size_t kInputs>
Walk<static_cast<int>(kInputs)> broadcast_walk(const std::array<const Dims*, kInputs>& dims,
                                               const Dims& out_dims) {
  Walk<static_cast<int>(kInputs)> walk;
  for_each_broadcast_dim(out_dims, dims,
                         [&](int64_t size, const auto& stride) { walk.append(size, stride); });
  return walk;
}

/// Makes a walk of elements one of packs, if all arrays lie so. Along the innermost tensor dim an
/// input's elements lie side by side, or are one: what stands for a pack is a pack, or an element.
template <int kWidth, typename In, size_t kInputs>
bool walk_in_packs(const std::array<const In*, kInputs>& in,
                   Walk<static_cast<int>(kInputs)>* walk) {
  if (walk->ndim == 0 || walk->size(0) % kWidth != 0) return false;
  for (size_t k = 0; k < kInputs; ++k) {
    if (walk->strides[k][0] != 0 && !lie_in_packs<kWidth>(in[k])) return false;
  }
  walk->group(kWidth);
  for (auto& strides : walk->strides) strides[0] *= kWidth;
  return true;
}

/// The inputs broadcast to `out_dims`.
template <typename In, size_t kInputs, typename Out, typename F>
void map_broadcast(const GpuContext& ctx, const std::array<const In*, kInputs>& in,
                   const std::array<const Dims*, kInputs>& dims, Out* out, const Dims& out_dims,
                   const F& f) {
  constexpr int kWidth = is_long<F> ? 1 : pack_width(std::max(sizeof(Out), sizeof(In)));
  const int64_t n = out_dims.numel();
  auto walk = broadcast_walk<kInputs>(dims, out_dims);
  const bool is_packed = lie_in_packs<kWidth>(out) && walk_in_packs<kWidth>(in, &walk);
  const PackCount count = count_packs(ctx, n, kWidth, is_packed);
  if (count.blocks == 0) return;
  launch(ctx, map_walk<kWidth, Out, F, In, kInputs>, count.blocks, kBlock, out, count.packs, n, f,
         in, walk);
}

}  // namespace phi::gpu
