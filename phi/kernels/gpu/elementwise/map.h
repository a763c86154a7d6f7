// out[i] = f(in[i]...) on a GPU, 16 bytes at a time where all arrays lie so.
#pragma once

#include <array>
#include <cstdint>

#include "phi/gpu/launch.h"
#include "phi/gpu/walk.h"
#include "phi/kernels/broadcast_dims.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/functors/rare_form.h"
#include "phi/kernels/gpu/pack.h"

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

/// `packs` whole packs, and what is left behind them, element by element.
template <int kWidth, typename Out, typename F, typename... In>
__global__ void map_packs(Out* out, int64_t packs, int64_t n, F f, const In*... in) {
  for (int64_t i = first_item(); i < packs; i += item_stride()) {
    map_pack<kWidth>(reinterpret_cast<Pack<Out, kWidth>*>(out) + i, f, pack_at<kWidth>(in, i)...);
  }
  for (int64_t i = packs * kWidth + first_item(); i < n; i += item_stride()) {
    out[i] = map_element<Out>(f, in[i]...);
  }
}

/// The same of inputs that broadcast: `walk` says where each of them lies.
template <typename Out, typename F, typename In, size_t... k>
__device__ void map_walked(Out* out, int64_t i, const F& f,
                           const std::array<const In*, sizeof...(k)>& in,
                           const Offsets<sizeof...(k)>& from, std::index_sequence<k...>) {
  out[i] = map_element<Out>(f, in[k][from.at[k]]...);
}
template <typename Out, typename F, typename In, size_t kInputs>
__global__ void map_walk(Out* out, int64_t n, F f, std::array<const In*, kInputs> in,
                         Walk<static_cast<int>(kInputs)> walk) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    map_walked(out, i, f, in, walk.offsets(i), std::make_index_sequence<kInputs>());
  }
}

/// All arrays have n elements; out may be one of the others.
template <typename Out, typename F, typename... In>
void map(const GpuContext& ctx, Out* out, int64_t n, const F& f, const In*... in) {
  constexpr size_t kWidest = std::max({sizeof(Out), sizeof(In)...});
  constexpr int kWidth = is_long<F> ? 1 : pack_width(kWidest);
  if (n == 0) return;
  const bool is_aligned = lie_in_packs<kWidth>(out, in...);
  // One kernel serves both: compilers take their time for each.
  const int64_t packs = is_aligned ? n / kWidth : 0;
  const int64_t threads = is_aligned ? n / kWidth + n % kWidth : n;
  launch(ctx, map_packs<kWidth, Out, F, In...>, blocks_for(ctx, threads), kBlock, out, packs, n, f,
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

/// The inputs broadcast to `out_dims`.
template <typename In, size_t kInputs, typename Out, typename F>
void map_broadcast(const GpuContext& ctx, const std::array<const In*, kInputs>& in,
                   const std::array<const Dims*, kInputs>& dims, Out* out, const Dims& out_dims,
                   const F& f) {
  const int64_t n = out_dims.numel();
  if (n == 0) return;
  launch(ctx, map_walk<Out, F, In, kInputs>, blocks_for(ctx, n), kBlock, out, n, f, in,
         broadcast_walk<kInputs>(dims, out_dims));
}

}  // namespace phi::gpu
