// The product of tiles that nvcuda::wmma (include/mma.h) hands to a warp.
#pragma once

#include <array>
#include <cstddef>

#include "cuda_on_cpu/threads.h"

namespace cuda_on_cpu {

inline constexpr int kTile = 16;
inline constexpr int kTileOfLane = kTile * kTile / 32;  // elements that each lane holds

/// Which element of a tile, counted by rows, is number `i` of a lane.
inline constexpr int tile_element(int lane, int i) { return i * 32 + lane; }

/// What one lane brings to d = a b + c: its elements of each tile.
struct TileProduct {
  const float* a;
  const float* b;
  const float* c;
  float* d;
};
void multiply_tiles(const std::array<const TileProduct*, 32>& lanes);

/// Ends the test unless the tile's address is a multiple of 32 and its rows of 16 bytes.
void check_tile(const void* memory, unsigned stride, size_t element_size, const Site& site);

}  // namespace cuda_on_cpu
