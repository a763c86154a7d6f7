// What the lanes of a warp bring together to its tensor cores: products of tiles that nvcuda::wmma
// (include/mma.h) hands to it, and what phi/gpu/tensor_core.h does.
#pragma once

#include <array>
#include <cstddef>

#include "cuda_on_cpu/threads.h"

namespace cuda_on_cpu {

inline constexpr int kTile = 16;
inline constexpr int kTileOfLane = kTile * kTile / 32;  // elements that each lane holds

/// Which element of a tile, counted by rows, is number `i` of a lane.
inline constexpr int tile_element(int lane, int i) { return i * 32 + lane; }

/// What one lane brings; `run` does the work of all, once they are there.
struct WarpWork {
  using Lanes = std::array<const WarpWork*, 32>;
  void (*run)(const Lanes& lanes);
};

/// Its elements of each tile of d = a b + c.
struct TileProduct : WarpWork {
  const float* a;
  const float* b;
  const float* c;
  float* d;
};
void multiply_tiles(const WarpWork::Lanes& lanes);

/// All lanes of the warp meet here.
void work_together(const WarpWork& part, const Site& site);

/// Ends the test unless the tile's address is a multiple of 32 and its rows of 16 bytes.
void check_tile(const void* memory, unsigned stride, size_t element_size, const Site& site);

}  // namespace cuda_on_cpu
