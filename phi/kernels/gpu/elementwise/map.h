// Elementwise kernels: out[i] = f(in[i]...) on a GPU, in packs of 16 bytes if all arrays are
// aligned to them.
#pragma once

#include <array>
#include <cstdint>

#include "phi/gpu/launch.h"
#include "phi/gpu/pack.h"
#include "phi/gpu/walk.h"
#include "phi/kernels/broadcast_dims.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/functors/slow_path.h"

namespace phi::gpu {

/// Whether F is compute-bound. Its kernels process one element per access, because packs would not
/// make them faster and would lengthen their compilation.
template <typename F>
inline constexpr bool is_long = false;

/// Applies f in the compute types of the inputs and converts the result to Out.
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

/// Processes `packs` whole packs, then the remaining elements of n one by one. With kWidth 1 there
/// are no packs.
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

/// A pack of kWidth adjacent elements, or one element broadcast to a pack unless `moves`.
template <int kWidth, typename T>
__device__ Pack<T, kWidth> walked_pack(const T* from, bool moves) {
  if (moves) return pack_at<kWidth>(from, 0);
  Pack<T, kWidth> pack;
  PHI_UNROLL(16)
  for (int e = 0; e < kWidth; ++e) pack.element[e] = *from;
  return pack;
}

/// map_packs for inputs that broadcast. `walk` has their offsets: per pack, or per element if
/// `packs` is 0.
template <int kWidth, typename Out, typename F, typename In, size_t... k>
__device__ void map_walked(Out* out, int64_t packs, int64_t n, const F& f,
                           const std::array<const In*, sizeof...(k)>& in,
                           const Walk<static_cast<int>(sizeof...(k))>& walk,
                           std::index_sequence<k...>) {
  const bool by_packs = kWidth > 1 && packs > 0;
  const int64_t items = by_packs ? packs : n;
  for (int64_t i = first_item(); i < items; i += item_stride()) {
    const WalkOffsets<sizeof...(k)> from = walk.offsets(i);
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

/// out[i] = f(in[i]...) for arrays of n elements. out may be one of the inputs.
template <typename Out, typename F, typename... In>
void map(const GpuContext& ctx, Out* out, int64_t n, const F& f, const In*... in) {
  constexpr size_t kWidest = std::max({sizeof(Out), sizeof(In)...});
  constexpr int kWidth = is_long<F> ? 1 : pack_width(kWidest);
  const PackCount count = count_packs(ctx, n, kWidth, are_pack_aligned<kWidth>(out, in...));
  if (count.blocks == 0) return;
  // Packs and single elements share one kernel, which halves the instantiations.
  launch(ctx, map_packs<kWidth, Out, F, In...>, count.blocks, kBlock, out, count.packs, n, f,
         in...);
}

/// out[i] = f(i), without conversion through the compute type.
template <typename Out, typename F>
__global__ void map_indices(Out* out, int64_t n, F f) {
  for (int64_t i = first_item(); i < n; i += item_stride()) out[i] = f(i);
}
template <typename Out, typename F>
void map_index(const GpuContext& ctx, Out* out, int64_t n, const F& f) {
  if (n > 0) launch(ctx, map_indices<Out, F>, blocks_for(ctx, n), kBlock, out, n, f);
}

/// Offsets of inputs of dims `dims` that broadcast to `out_dims`.
template <size_t kInputs>
Walk<static_cast<int>(kInputs)> broadcast_walk(const std::array<const Dims*, kInputs>& dims,
                                               const Dims& out_dims) {
  Walk<static_cast<int>(kInputs)> walk;
  for_each_broadcast_dim(out_dims, dims,
                         [&](int64_t size, const auto& stride) { walk.append(size, stride); });
  return walk;
}

/// Converts a walk over elements into one over packs if dims, strides and alignment permit; returns
/// whether they do. Along the innermost dim an input is either contiguous and aligned, which yields
/// a pack, or broadcast, which yields one element for the whole pack.
template <int kWidth, typename In, size_t kInputs>
bool walk_in_packs(const std::array<const In*, kInputs>& in,
                   Walk<static_cast<int>(kInputs)>* walk) {
  if (walk->ndim == 0 || walk->size(0) % kWidth != 0) return false;
  for (size_t k = 0; k < kInputs; ++k) {
    if (walk->strides[k][0] != 0 && !are_pack_aligned<kWidth>(in[k])) return false;
  }
  walk->group(kWidth);
  for (auto& strides : walk->strides) strides[0] *= kWidth;
  return true;
}

/// out[i] = f(in[i]...), with inputs broadcast to `out_dims`.
template <typename In, size_t kInputs, typename Out, typename F>
void map_broadcast(const GpuContext& ctx, const std::array<const In*, kInputs>& in,
                   const std::array<const Dims*, kInputs>& dims, Out* out, const Dims& out_dims,
                   const F& f) {
  constexpr int kWidth = is_long<F> ? 1 : pack_width(std::max(sizeof(Out), sizeof(In)));
  const int64_t n = out_dims.numel();
  auto walk = broadcast_walk<kInputs>(dims, out_dims);
  const bool is_packed = are_pack_aligned<kWidth>(out) && walk_in_packs<kWidth>(in, &walk);
  const PackCount count = count_packs(ctx, n, kWidth, is_packed);
  if (count.blocks == 0) return;
  launch(ctx, map_walk<kWidth, Out, F, In, kInputs>, count.blocks, kBlock, out, count.packs, n, f,
         in, walk);
}

}  // namespace phi::gpu
