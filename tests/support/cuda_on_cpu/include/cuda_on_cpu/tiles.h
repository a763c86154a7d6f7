// Warp-wide tensor core operations: the tile matmuls of nvcuda::wmma (include/mma.h) and the
// functions of phi/gpu/tensor_core.h.
#pragma once

#include <array>
#include <cstddef>

#include "cuda_on_cpu/threads.h"

namespace cuda_on_cpu {

inline constexpr int kTile = 16;
inline constexpr int kTileOfLane = kTile * kTile / 32;  // elements per lane

/// Row-major index in a tile of a lane's element `i`.
inline constexpr int tile_element(int lane, int i) { return i * 32 + lane; }

/// One lane's contribution. `run` does the work of all lanes once they have arrived.
struct WarpWork {
  using Lanes = std::array<const WarpWork*, 32>;
  void (*run)(const Lanes& lanes);
};

/// A lane's elements of each tile of d = a b + c.
struct TileProduct : WarpWork {
  const float* a;
  const float* b;
  const float* c;
  float* d;
};
void multiply_tiles(const WarpWork::Lanes& lanes);

/// Waits for all lanes of the warp and runs their work.
void work_together(const WarpWork& part, const Site& site);

/// Fails the test unless the tile's address is a multiple of 32 bytes and its row stride one of 16
/// bytes.
void check_tile(const void* memory, unsigned stride, size_t element_size, const Site& site);

}  // namespace cuda_on_cpu
