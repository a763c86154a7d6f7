// Scans along the lines of an array on a GPU. A team of threads processes a line tile by tile; each
// thread has a few adjacent elements of a tile.
#pragma once

#include <cstdint>

#include "phi/kernels/gpu/lines.h"

namespace phi::gpu {

/// Merged states: those of the threads before this one, and those of the whole team.
template <typename State>
struct Prefix {
  State before;
  State all;
};

/// Scans the threads' states within each warp.
template <typename Scan, typename State>
__device__ Prefix<State> scan_warp(State own) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  PHI_UNROLL(5)
  for (int by = 1; by < kWarp; by *= 2) {
    const State below = shuffle(own, ShuffleUp{by});
    if (lane >= by) own = Scan::merge(below, own);
  }
  const State before = shuffle(own, ShuffleUp{1});
  return {lane == 0 ? Scan::start() : before, shuffle(own, ShuffleIdx{kWarp - 1})};
}

template <typename Scan, typename Team, typename State>
__device__ Prefix<State> scan_team(const Team&, State own) {
  if constexpr (Team::kSize == 1) {
    return {Scan::start(), own};
  } else if constexpr (Team::kSize == kWarp) {
    return scan_warp<Scan>(own);
  } else {
    constexpr int kWarps = kBlock / kWarp;
    __shared__ State of_warps[kWarps];
    Prefix<State> result = scan_warp<Scan>(own);
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    if (threadIdx.x % kWarp == 0) of_warps[warp] = result.all;
    __syncthreads();
    State before = Scan::start();
    State all = Scan::start();
    for (int w = 0; w < kWarps; ++w) {
      if (w == warp) before = all;
      all = Scan::merge(all, of_warps[w]);
    }
    __syncthreads();  // the array may be reused
    return {Scan::merge(before, result.before), all};
  }
}

/// Scans a line of n elements. state(k) returns the state of element k alone and is called once per
/// element. store(k, before, joined) receives the merged states of the elements before k, and of
/// those and k. `carried` is the state before the line.
template <typename Scan, typename Team, typename StateOf, typename Store>
__device__ void scan_line(const Team& team, int64_t n, const StateOf& state, const Store& store,
                          decltype(Scan::start()) carried = Scan::start()) {
  constexpr int kNeighbours = 4;
  constexpr int64_t kTile = int64_t{Team::kSize} * kNeighbours;
  for (int64_t tile = 0; tile < n; tile += kTile) {
    const int64_t begin = tile + team.index() * kNeighbours;
    decltype(carried) states[kNeighbours];
    auto own = Scan::start();
    PHI_UNROLL(4)
    for (int e = 0; e < kNeighbours; ++e) {
      if (begin + e < n) own = Scan::merge(own, states[e] = state(begin + e));
    }
    const auto prefix = scan_team<Scan>(team, own);
    auto running = Scan::merge(carried, prefix.before);
    PHI_UNROLL(4)
    for (int e = 0; e < kNeighbours; ++e) {
      if (begin + e >= n) break;
      const auto joined = Scan::merge(running, states[e]);
      store(begin + e, running, joined);
      running = joined;
    }
    carried = Scan::merge(carried, prefix.all);
  }
}

}  // namespace phi::gpu
