// Lines of an array, along one tensor dim or over several, and the launcher for_each_line, which
// runs a functor on each line with a team of threads.
//
//   struct Scale {
//     const float* x;
//     float* out;
//     AxisLines lines;
//     template <typename Team>
//     __device__ void operator()(const Team& team, int64_t line) const {
//       team.each(lines.n, [&](int64_t k) {
//         const int64_t i = lines.start(line) + lines.at(k);
//         out[i] = 2 * x[i];
//       });
//     }
//   };
//   for_each_line(ctx, lines, Scale{x, out, lines});
#pragma once

#include <cstdint>

#include "phi/gpu/divider.h"
#include "phi/gpu/launch.h"
#include "phi/gpu/walk.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/gpu/team.h"

namespace phi::gpu {

/// Converts an element to double, and a double to an element, through the compute type of T.
template <typename T>
__device__ double number(T x) {
  return static_cast<double>(static_cast<compute_t<T>>(x));
}

template <typename T>
__device__ T element(double value) {
  return static_cast<T>(static_cast<compute_t<T>>(value));
}

/// Lines along the middle dim of [outer, n, inner]. Element k of a line is at offset at(k) from its
/// start. A 0-D array is one line of one element.
struct AxisLines {
  int64_t count = 1;
  int64_t n = 1;
  int64_t inner = 1;

  AxisLines(const Dims& dims, int64_t axis) {
    if (dims.ndim() == 0) return;
    const int at = static_cast<int>(axis < 0 ? axis + dims.ndim() : axis);
    n = dims[at];
    inner = dims.numel(at + 1, dims.ndim());
    count = dims.numel(0, at) * inner;
    if (inner > 1) by_inner_ = Divider(inner);
  }
  /// `rows` contiguous lines of n elements.
  static AxisLines rows(int64_t rows, int64_t n) {
    AxisLines lines({}, 0);
    lines.count = rows;
    lines.n = n;
    return lines;
  }

  PHI_HD int64_t start(int64_t line) const {
    if (inner == 1) return line * n;
    const int64_t outer = by_inner_.quotient(line);
    return outer * n * inner + line - outer * inner;
  }
  PHI_HD int64_t at(int64_t k) const { return k * inner; }
  bool is_contiguous() const { return inner == 1; }

 private:
  Divider by_inner_ = Divider(1);
};

/// Slices of [outer, count, inner]: line i has all elements at index i of the middle dim.
struct SliceLines {
  int64_t count;
  int64_t n;
  int64_t inner;

  SliceLines(int64_t outer, int64_t slices, int64_t inner_extent)
      : count(slices), n(outer * inner_extent), inner(inner_extent), by_inner_(inner_extent) {}

  PHI_HD int64_t start(int64_t line) const { return line * inner; }
  PHI_HD int64_t at(int64_t k) const {
    const int64_t block = by_inner_.quotient(k);
    return block * count * inner + (k - block * inner);
  }
  bool is_contiguous() const { return inner > 1 || count == 1; }

 private:
  Divider by_inner_;
};

/// Lines over `axes`: one line per index of the other tensor dims, with its elements in row-major
/// order.
struct WalkLines {
  int64_t count = 1;
  int64_t n = 1;
  Walk<1> kept;
  Walk<1> along;

  WalkLines(const Dims& dims, AxisSet axes) {
    const Dims strides = dims.strides();
    for (int d = dims.ndim() - 1; d >= 0; --d) {
      (axes.has(d) ? n : count) *= dims[d];
      if (dims[d] != 1) (axes.has(d) ? along : kept).append(dims[d], {strides[d]});
    }
  }

  PHI_HD int64_t start(int64_t line) const { return kept.offsets(line).at[0]; }
  PHI_HD int64_t at(int64_t k) const { return along.offsets(k).at[0]; }
  bool is_contiguous() const { return along.ndim == 0 || along.strides[0][0] == 1; }
};

template <int kThreads, typename Op>
__global__ void run_lines(int64_t count, Op op) {
  constexpr int64_t kTeams = kBlock / kThreads;
  for (int64_t line = blockIdx.x * kTeams + threadIdx.x / kThreads; line < count;
       line += gridDim.x * kTeams) {
    op(Team<kThreads>(), line);
  }
}

/// Number of blocks for `lines`, with `threads` threads each: at most several times the number that
/// the GPU holds at once. That number depends on a kernel's registers, and more blocks than
/// resident ones balance the load until the last blocks end.
inline unsigned blocks_for_lines(const GpuContext& ctx, int64_t lines, int threads,
                                 int of_a_block = kBlock) {
  constexpr int64_t kBlocksOfAMultiprocessor = 128;
  const int64_t most = kBlocksOfAMultiprocessor * GpuDevice::of(ctx.place()).multiprocessors();
  const int64_t blocks = (lines * threads + of_a_block - 1) / of_a_block;
  return static_cast<unsigned>(std::clamp<int64_t>(blocks, 1, most));
}

inline constexpr int64_t kMaxSerialLine =
    4;  // a line of at most this many elements is processed by one thread

/// Number of threads in a line's team.
template <typename Lines>
int threads_for_lines(const Lines& lines) {
  constexpr int64_t kShort = 1024;  // up to this many elements, a warp
  constexpr int64_t kMany = 8192;   // from this many lines, one thread each fills the GPU
  if (lines.n <= kMaxSerialLine || (!lines.is_contiguous() && lines.count >= kMany)) return 1;
  return lines.n <= kShort ? kWarp : kBlock;
}

/// Calls op(team, line) for each line. The type of the team depends only on shapes.
template <typename Lines, typename Op>
void for_each_line(const GpuContext& ctx, const Lines& lines, const Op& op) {
  if (lines.count == 0) return;
  const auto run = [&](auto kernel, int threads) {
    launch(ctx, kernel, blocks_for_lines(ctx, lines.count, threads), kBlock, lines.count, op);
  };
  const int threads = threads_for_lines(lines);
  if (threads == 1) return run(run_lines<1, Op>, 1);
  if (threads == kWarp) return run(run_lines<kWarp, Op>, kWarp);
  run(run_lines<kBlock, Op>, kBlock);
}

}  // namespace phi::gpu
