// Moves of the elements of pieces (kernels/pieces.h) on a GPU, by the width of an element.
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
/// from[..] = grad[..], which stands where `to` does; no element of `from` is moved twice.
void move_pieces_back(const GpuContext& ctx, const Pieces& pieces, const void* grad, void* from,
                      size_t width);

/// For each of `count` elements of `from` the places in `to` that it is moved to, in the order of
/// the pieces' turns.
PositionsBySlice positions_by_source(const GpuContext& ctx, const Pieces& pieces, int64_t count);

}  // namespace phi::gpu
