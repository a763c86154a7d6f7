// Copies the elements of pieces (kernels/pieces.h) on a GPU; compiled once per element width.
#pragma once

#include <cstddef>
#include <cstdint>

#include "phi/core/device/device_context.h"
#include "phi/kernels/gpu/indexing/positions.h"
#include "phi/kernels/pieces.h"

namespace phi::gpu {

/// to[..] = from[..] for all elements of all pieces.
void move_pieces(const GpuContext& ctx, const Pieces& pieces, const void* from, void* to,
                 size_t width);
/// from[..] = grad[..], where `grad` has the layout of `to`. Each element of `from` must be the
/// source of at most one move.
void move_pieces_back(const GpuContext& ctx, const Pieces& pieces, const void* grad, void* from,
                      size_t width);

/// For each of the `count` elements of `from`, the offsets in `to` that receive it, in the
/// iteration order of the pieces.
PositionsBySlice positions_by_source(const GpuContext& ctx, const Pieces& pieces, int64_t count);

}  // namespace phi::gpu
