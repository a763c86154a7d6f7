// Scans that split long lines into parts, so that a few lines fill a GPU. One block per part merges
// its states; a second kernel converts these to the state before each part; then one block per part
// scans it.
//
//   struct Squares {
//     const int64_t* x;
//     __device__ int64_t operator()(int64_t line, int64_t k) const { return x[k] * x[k]; }
//   };
//   struct Write {
//     int64_t* out;
//     __device__ void operator()(int64_t line, int64_t k, int64_t before, int64_t joined) const {
//       out[k] = joined;
//     }
//   };
//   scan_parts<SumScan<int64_t>>(ctx, LineParts(ctx, 1, n), Squares{x}, Write{out});
#pragma once

#include <algorithm>
#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/gpu/scan/scan_lines.h"

namespace phi::gpu {

/// `lines` lines of n elements each, split into `count` parts of `size` elements. The last part of
/// a line may be shorter.
struct LineParts {
  int64_t lines;
  int64_t n;
  int64_t count = 1;
  int64_t size;
  Divider by_count = Divider(1);

  /// Chooses enough parts to fill the GPU, but none so small that its launches do not pay. Requires
  /// at least one line.
  LineParts(const GpuContext& ctx, int64_t of_lines, int64_t elements)
      : lines(of_lines), n(elements), size(elements) {
    constexpr int64_t kLeast = 4096;  // elements of a part
    const int64_t wanted = std::min<int64_t>(blocks_for(ctx, lines * n) / lines, n / kLeast);
    if (wanted <= 1) return;
    size = (n + wanted - 1) / wanted;
    count = (n + size - 1) / size;
    by_count = Divider(count);
  }

  int64_t all() const { return lines * count; }
  __device__ int64_t line(int64_t part) const { return by_count.quotient(part); }
  __device__ int64_t begin(int64_t part) const { return (part - line(part) * count) * size; }
  __device__ int64_t length(int64_t part) const {
    const int64_t left = n - begin(part);
    return left < size ? left : size;
  }
};

template <typename Scan>
struct MergeReducer {
  using State = typename Scan::State;
  static constexpr State kIdentity = Scan::start();
  PHI_HD static State join(const State& a, const State& b) { return Scan::merge(a, b); }
};

/// merged[part] = the merged states of the part. Threads merge every k-th element, so Scan::merge
/// must not depend on the order of elements.
template <typename Scan, typename StateOf>
struct MergePart {
  LineParts parts;
  StateOf state;
  typename Scan::State* merged;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t part) const {
    const int64_t line = parts.line(part);
    const int64_t begin = parts.begin(part);
    auto all = Scan::start();
    team.each(parts.length(part),
              [&](int64_t k) { all = Scan::merge(all, state(line, begin + k)); });
    all = team.template join<MergeReducer<Scan>>(all);
    if (team.index() == 0) merged[part] = all;
  }
};

/// Calls store(line, k, before, joined) for each element k of a part, as scan_line() does.
template <typename Scan, typename StateOf, typename Store>
struct ScanPart {
  LineParts parts;
  StateOf state;
  Store store;
  const typename Scan::State* before_parts;  // null: each line is one part

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t part) const {
    const int64_t line = parts.line(part);
    const int64_t begin = parts.begin(part);
    scan_line<Scan>(
        team, parts.length(part), [&](int64_t k) { return state(line, begin + k); },
        [&](int64_t k, const auto& before, const auto& joined) {
          store(line, begin + k, before, joined);
        },
        before_parts ? before_parts[part] : Scan::start());
  }
};

/// Replaces the states of each line's parts by the states before them.
template <typename Scan>
struct PlaceParts {
  int64_t count;
  typename Scan::State* states;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    auto* const of_line = states + line * count;
    scan_line<Scan>(
        team, count, [&](int64_t k) { return of_line[k]; },
        [&](int64_t k, const auto& before, const auto&) { of_line[k] = before; });
  }
};

/// Calls op(team, item) with one block per item.
template <typename Op>
void for_each_block(const GpuContext& ctx, int64_t items, const Op& op) {
  launch(ctx, run_lines<kBlock, Op>, blocks_for_lines(ctx, items, kBlock), kBlock, items, op);
}

/// Scans all lines. state(line, k) returns the state of one element and may be called twice per
/// element. store(line, k, before, joined) receives the merged states of the elements before k in
/// its line, and of those and k.
template <typename Scan, typename StateOf, typename Store>
void scan_parts(const GpuContext& ctx, const LineParts& parts, const StateOf& state,
                const Store& store) {
  using State = typename Scan::State;
  using InParts = ScanPart<Scan, StateOf, Store>;
  if (parts.count == 1) {
    return for_each_block(ctx, parts.lines, InParts{parts, state, store, nullptr});
  }
  const auto bytes = parts.all() * static_cast<int64_t>(sizeof(State));
  DenseTensor memory = DenseTensor::empty({{bytes}, DataType::UINT8}, ctx.place());
  auto* const states = static_cast<State*>(memory.mutable_raw_data());
  for_each_block(ctx, parts.all(), MergePart<Scan, StateOf>{parts, state, states});
  for_each_block(ctx, parts.lines, PlaceParts<Scan>{parts.count, states});
  for_each_block(ctx, parts.all(), InParts{parts, state, store, states});
}

/// scan_parts() along the lines of an array. Lines that are not split are scanned by teams that
/// suit their length.
template <typename Scan, typename StateOf, typename Store>
void scan_lines(const GpuContext& ctx, const AxisLines& lines, const StateOf& state,
                const Store& store) {
  const LineParts parts(ctx, lines.count, lines.n);
  if (parts.count > 1) return scan_parts<Scan>(ctx, parts, state, store);
  for_each_line(ctx, lines, ScanPart<Scan, StateOf, Store>{parts, state, store, nullptr});
}

}  // namespace phi::gpu
