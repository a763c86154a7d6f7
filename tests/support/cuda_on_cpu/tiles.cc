// d = a b + c of a warp, accumulated in float.
#include "cuda_on_cpu/tiles.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "cuda_on_cpu/threads.h"
#include "support/cuda_on_cpu/blocks.h"
#include "support/cuda_on_cpu/failure.h"

namespace cuda_on_cpu {
namespace {

using Tile = std::array<float, size_t{kTile} * kTile>;

const TileProduct& product_of(const WarpWork::Lanes& lanes, int lane) {
  return static_cast<const TileProduct&>(*lanes[static_cast<size_t>(lane)]);
}

template <class Of>
Tile gather(const WarpWork::Lanes& lanes, Of of) {
  Tile tile;
  for (int lane = 0; lane < 32; ++lane) {
    const float* elements = of(product_of(lanes, lane));
    for (int i = 0; i < kTileOfLane; ++i) {
      tile[static_cast<size_t>(tile_element(lane, i))] = elements[i];
    }
  }
  return tile;
}

constexpr size_t kTileAlignment = 32;
constexpr size_t kStrideAlignment = 16;

}  // namespace

void check_tile(const void* memory, unsigned stride, size_t element_size, const Site& site) {
  const bool fits = reinterpret_cast<uintptr_t>(memory) % kTileAlignment == 0 &&
                    stride * element_size % kStrideAlignment == 0;
  if (fits) return;
  fail(
      fmt::format("a tile at {} with rows of {} bytes, at {}:{}: wmma needs an address that is a "
                  "multiple of 32 bytes and a row stride that is a multiple of 16, in {}",
                  memory, stride * element_size, site.file, site.line, where_now()));
}

void multiply_tiles(const WarpWork::Lanes& lanes) {
  const Tile a = gather(lanes, [](const TileProduct& part) { return part.a; });
  const Tile b = gather(lanes, [](const TileProduct& part) { return part.b; });
  Tile d = gather(lanes, [](const TileProduct& part) { return part.c; });
  constexpr size_t n = kTile;
  for (size_t row = 0; row < n; ++row) {
    for (size_t k = 0; k < n; ++k) {
      const float left = a[row * n + k];
      for (size_t column = 0; column < n; ++column) {
        d[row * n + column] += left * b[k * n + column];
      }
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < kTileOfLane; ++i) {
      product_of(lanes, lane).d[i] = d[static_cast<size_t>(tile_element(lane, i))];
    }
  }
}

}  // namespace cuda_on_cpu
