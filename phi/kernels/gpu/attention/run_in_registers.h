// Launches register-resident attention with one block per tile of 64 queries or keys of a head.
#pragma once

#include "phi/gpu/launch.h"
#include "phi/kernels/gpu/attention/register_tiles.h"

namespace phi::gpu {

/// Tiles of queries, for a Part below; KeyTiling has tiles of keys. The blocks with the most work
/// start first: the last queries see the most keys, and the first keys are seen by the most
/// queries.
struct QueryTiling {
  static constexpr bool kLastFirst = true;
  PHI_HD static int64_t rows(const AttentionShape& shape) { return shape.sq; }
  PHI_HD static int64_t heads(const AttentionShape& shape) { return shape.heads; }
  PHI_HD static int64_t batch(const AttentionShape& shape) { return shape.batch; }
};
struct KeyTiling {
  static constexpr bool kLastFirst = false;
  PHI_HD static int64_t rows(const AttentionShape& shape) { return shape.sk; }
  PHI_HD static int64_t heads(const AttentionShape& shape) { return shape.kv_heads; }
  PHI_HD static int64_t batch(const AttentionShape& shape) { return shape.kv_batch; }
};

template <typename Part, typename Arrays>
__global__ void __launch_bounds__(Part::kThreads, 2)
    attend_in_registers(int64_t items, Arrays arrays, AttentionShape shape) {
  __shared__ typename Part::State memory;
  Part part(arrays, shape, memory);
  const int64_t heads = Part::heads(shape);
  const int64_t tiles = tiles_of(Part::rows(shape), Part::kEdge);
  for (int64_t item = blockIdx.x; item < items; item += gridDim.x) {
    const TileIndex at = tile_index(item, items, tiles);  // last tile first
    const int64_t tile = Part::kLastFirst ? at.tile : tiles - 1 - at.tile;
    part.run(at.head / heads, at.head % heads, tile * Part::kEdge);
  }
}

/// Calls part.run(batch, head, first row) for each tile.
template <typename Part, typename Arrays>
void run_in_registers(const GpuContext& ctx, const Arrays& arrays, const AttentionShape& shape) {
  const int64_t tiles = tiles_of(Part::rows(shape), Part::kEdge);
  const int64_t items = Part::batch(shape) * Part::heads(shape) * tiles;
  if (items == 0) return;
  launch(ctx, attend_in_registers<Part, Arrays>, blocks_of(items), Part::kThreads, items, arrays,
         shape);
}

}  // namespace phi::gpu
