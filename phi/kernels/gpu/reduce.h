// Reductions on a GPU. The order in which elements are combined depends only on shapes and on the
// GPU model, so results repeat bit for bit.
#pragma once

#include <algorithm>
#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/gpu/launch.h"
#include "phi/gpu/walk.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/functors/reduce.h"
#include "phi/kernels/gpu/shuffle.h"

namespace phi {

namespace gpu {

inline constexpr int kLaneRun =
    16;  // elements combined in R::value_type before each carry into R::State

template <typename R>
__device__ typename R::State join_warp(typename R::State value) {
  PHI_UNROLL(5)
  for (int by = kWarp / 2; by > 0; by /= 2)
    value = merge<R>(value, shuffle(value, ShuffleDown{by}));
  return value;
}

/// Combines the values of `threads` adjacent threads, a warp or a whole block. The first thread of
/// the team receives the result.
template <typename R>
__device__ typename R::State join_threads(int threads, typename R::State value) {
  value = join_warp<R>(value);
  if (threads == kWarp) return value;
  __shared__ typename R::State of_warps[kBlock / kWarp];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if (lane == 0) of_warps[warp] = value;
  __syncthreads();
  value = lane < kBlock / kWarp ? of_warps[lane] : static_cast<typename R::State>(R::kIdentity);
  if (warp == 0) value = join_warp<R>(value);
  __syncthreads();  // the array may be reused
  return value;
}

/// Reduction geometry: number of outputs, elements per output, and how many parts each output is
/// split into.
struct ReduceSpace {
  Walk<1> kept;
  Walk<1> reduced;
  int64_t outputs = 1;
  int64_t elements = 1;  // per output
  Divider by_outputs;
  Divider splits;

  /// Splits each output into parts if there are too few outputs to fill the GPU.
  void split(const GpuContext& ctx, bool along);
  int64_t parts() const { return outputs * splits.by(); }
  __device__ int64_t begin(int64_t split) const { return splits.quotient(elements * split); }
  __device__ int64_t end(int64_t split) const { return begin(split + 1); }
};

/// Calls add(i) for i = begin, begin + step, .. below `end`, and carry() after each run of kLaneRun
/// calls and at the end. Unrolled so that the loads of a run are issued together.
template <typename Add, typename Carry>
__device__ void in_runs(int64_t begin, int64_t end, int64_t step, const Add& add,
                        const Carry& carry) {
  int64_t i = begin;
  for (; i + (kLaneRun - 1) * step < end; i += kLaneRun * step) {
    PHI_UNROLL(4)
    for (int k = 0; k < kLaneRun; ++k) add(i + k * step);
    carry();
  }
  for (; i < end; i += step) add(i);
  carry();
}

/// Lifts the element at offset `at` within its output.
template <typename R, typename C>
__device__ typename R::value_type lift_at(C x, int64_t at) {
  if constexpr (requires { R::lift(x, at); }) {
    return R::lift(x, at);
  } else {
    return lift<R>(x);
  }
}

/// Combines the elements begin, begin + step, .. below `end` of one output.
template <typename R, typename T>
__device__ typename R::State join_elements(const T* x, const Walk<1>& walk, int64_t begin,
                                           int64_t end, int64_t step) {
  auto value = static_cast<typename R::State>(R::kIdentity);
  typename R::value_type lane = R::kIdentity;
  const auto add = [&](int64_t at) {
    lane = R::join(lane, lift_at<R>(static_cast<compute_t<T>>(x[at]), at));
  };
  const auto carry = [&] {
    value = R::carry(value, lane);
    lane = R::kIdentity;
  };
  if (walk.ndim == 1) {
    const int64_t stride = walk.strides[0][0];
    in_runs(begin * stride, end * stride, step * stride, add, carry);
    return value;
  }
  for (int64_t i = begin; i < end; carry()) {
    PHI_UNROLL(1)
    for (int k = 0; k < kLaneRun && i < end; ++k, i += step) add(walk.offsets(i).at[0]);
  }
  return value;
}

/// Destination of the parts: `parts` if outputs are split, else `out` through the final conversion.
template <typename Acc, typename Out, typename Finish>
struct ReducedPart {
  Acc* parts;  // null: outputs are not split
  Out* out;
  Finish finish;
  __device__ void put(int64_t i, Acc value) const {
    if (parts) {
      parts[i] = value;
    } else {
      out[i] = convert_value<Out>(finish(value));
    }
  }
};

/// Reduces each part with `threads` threads, a warp or a block; adjacent threads read adjacent
/// elements.
template <typename R, typename T, typename Result>
__global__ void reduce_along(const T* x, ReduceSpace space, int threads, Result result) {
  const int64_t count = space.outputs * space.splits.by();
  const int of_block = kBlock / threads;
  const int own = static_cast<int>(threadIdx.x) / threads;
  const int thread = static_cast<int>(threadIdx.x) % threads;
  for (int64_t first = int64_t{blockIdx.x} * of_block; first < count;
       first += int64_t{gridDim.x} * of_block) {
    const int64_t part = first + own;  // uniform loop: all threads reach the barriers
    auto value = static_cast<typename R::State>(R::kIdentity);
    if (part < count) {
      const int64_t output = space.splits.quotient(part);
      const int64_t split = part - output * space.splits.by();
      const T* base = x + space.kept.offsets(output).at[0];
      value = join_elements<R>(base, space.reduced, space.begin(split) + thread, space.end(split),
                               threads);
    }
    value = join_threads<R>(threads, value);
    if (part < count && thread == 0) result.put(part, value);
  }
}

/// Reduces each part with one thread; adjacent threads have adjacent outputs.
template <typename R, typename T, typename Result>
__global__ void reduce_across(const T* x, ReduceSpace space, Result result) {
  const int64_t count = space.outputs * space.splits.by();
  for (int64_t i = first_item(); i < count; i += item_stride()) {
    const int64_t split = space.by_outputs.quotient(i);
    const int64_t output = i - split * space.outputs;
    const T* base = x + space.kept.offsets(output).at[0];
    result.put(output * space.splits.by() + split,
               join_elements<R>(base, space.reduced, space.begin(split), space.end(split), 1));
  }
}

/// out[i] = finish(combined parts of output i).
template <typename R, typename Out, typename Finish>
__global__ void join_parts(const typename R::State* parts, int64_t outputs, int64_t splits,
                           Out* out, Finish finish) {
  for (int64_t i = first_item(); i < outputs; i += item_stride()) {
    auto value = static_cast<typename R::State>(R::kIdentity);
    for (int64_t s = 0; s < splits; ++s) value = merge<R>(value, parts[i * splits + s]);
    out[i] = convert_value<Out>(finish(value));
  }
}

template <typename R, typename T, typename Result>
void launch_along(const GpuContext& ctx, const T* x, const ReduceSpace& space,
                  const Result& result) {
  constexpr int64_t kShort = 512;  // up to this many elements, a warp per part
  const int threads = space.elements <= kShort ? kWarp : kBlock;
  launch(ctx, reduce_along<R, T, Result>, blocks_for(ctx, space.parts() * threads), kBlock, x,
         space, threads, result);
}

template <typename R, typename T, typename Result>
void launch_across(const GpuContext& ctx, const T* x, const ReduceSpace& space,
                   const Result& result) {
  launch(ctx, reduce_across<R, T, Result>, blocks_for(ctx, space.parts()), kBlock, x, space,
         result);
}

inline void ReduceSpace::split(const GpuContext& ctx, bool along) {
  constexpr int64_t kLeast = 4096;  // smaller parts do not pay for the second launch
  const int64_t threads = int64_t{blocks_for(ctx, int64_t{1} << 40)} * kBlock;
  const int64_t busy = along ? outputs * kBlock : outputs;
  const int64_t least = along ? kLeast : kLeast / kBlock;
  const int64_t wanted = std::max<int64_t>(1, threads / std::max<int64_t>(1, busy));
  splits = Divider(std::clamp<int64_t>(elements / least, 1, wanted));
  by_outputs = Divider(outputs);
}

/// Calls reduce_to(destination) for the parts of the outputs of `space`, then combines the parts.
template <typename R, typename Out, typename Finish, typename Reduce>
void join_all(const GpuContext& ctx, const ReduceSpace& space, Out* out, const Finish& finish,
              const Reduce& reduce_to) {
  using Acc = typename R::State;
  using Part = ReducedPart<Acc, Out, Finish>;
  if (space.splits.by() == 1) return reduce_to(Part{nullptr, out, finish});
  const int64_t bytes = space.parts() * static_cast<int64_t>(sizeof(Acc));
  DenseTensor parts = DenseTensor::empty({{bytes}, DataType::UINT8}, ctx.place());
  Acc* const memory = static_cast<Acc*>(parts.mutable_raw_data());
  reduce_to(Part{memory, out, finish});
  launch(ctx, join_parts<R, Out, Finish>, blocks_for(ctx, space.outputs), kBlock, memory,
         space.outputs, space.splits.by(), out, finish);
}

}  // namespace gpu

/// out[i] = finish(combined elements of output i), converted to Out. Same contract as on the CPU.
template <typename R, typename T, typename Out, typename Finish>
void reduce(const GpuContext& ctx, const T* x, const Dims& dims, AxisSet axes, Out* out,
            const Finish& finish) {
  gpu::ReduceSpace space;
  const Dims strides = dims.strides();
  bool along = true;  // whether the innermost tensor dim is reduced
  for (int d = dims.ndim() - 1; d >= 0; --d) {
    if (dims[d] == 1) continue;
    const bool is_reduced = axes.has(d);
    if (space.kept.ndim + space.reduced.ndim == 0) along = is_reduced;
    (is_reduced ? space.reduced : space.kept).append(dims[d], {strides[d]});
    (is_reduced ? space.elements : space.outputs) *= dims[d];
  }
  if (space.outputs == 0) return;
  space.split(ctx, along);
  gpu::join_all<R>(ctx, space, out, finish, [&](const auto& result) {
    if (along) return gpu::launch_along<R>(ctx, x, space, result);
    gpu::launch_across<R>(ctx, x, space, result);
  });
}

/// out[i] = finish(combined row i of x [rows, n]), converted to Out.
template <typename R, typename T, typename Out, typename Finish = ConvertFunctor<Out>>
void reduce_rows(const GpuContext& ctx, const T* x, int64_t rows, int64_t n, Out* out,
                 const Finish& finish = {}) {
  if (rows == 0) return;
  gpu::ReduceSpace space;
  space.outputs = rows;
  space.elements = n;
  space.kept.append(rows, {n});
  space.reduced.append(n, {1});
  space.split(ctx, /*along=*/true);
  gpu::join_all<R>(ctx, space, out, finish,
                   [&](const auto& result) { gpu::launch_along<R>(ctx, x, space, result); });
}

/// *out = finish(n combined elements), converted to Out.
template <typename R, typename T, typename Out, typename Finish = ConvertFunctor<Out>>
void reduce_all(const GpuContext& ctx, const T* x, int64_t n, Out* out, const Finish& finish = {}) {
  reduce_rows<R>(ctx, x, 1, n, out, finish);
}

}  // namespace phi
