// Copies pieces: strided copies if each loop is one run, else each thread finds the run of its
// element.
#include "phi/gpu/box_move.h"
#include "phi/gpu/launch.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/gpu/data_movement/piece_loops.h"
#include "phi/kernels/gpu/data_movement/piece_moves.h"

namespace phi::gpu {
namespace {

template <typename W>
__global__ void move_runs(const W* from, W* to, int64_t n, PieceLoops loops) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    const Strides at = loops.offsets(i);
    to[at.to] = from[at.from];
  }
}

void move_strided(const GpuContext& ctx, const PieceLoops& loops, const std::byte* from,
                  std::byte* to, int64_t width) {
  MoveWalk walk;
  walk.append(width, {1, 1});
  for (int d = 0; d < loops.ndim; ++d) {
    walk.append(loops.sizes[d].by(), {loops.strides[d].from * width, loops.strides[d].to * width});
  }
  move_elements(GpuDevice::of(ctx.place()), from + loops.first.from * width,
                to + loops.first.to * width, walk);
}

void move(const GpuContext& ctx, const PieceLoops& loops, const void* from, void* to,
          size_t width) {
  if (!loops.has_runs()) {
    return move_strided(ctx, loops, static_cast<const std::byte*>(from),
                        static_cast<std::byte*>(to), static_cast<int64_t>(width));
  }
  visit_width(width, [&]<typename W>() {
    const int64_t n = loops.turns();
    launch(ctx, move_runs<W>, blocks_for(ctx, n), kBlock, static_cast<const W*>(from),
           static_cast<W*>(to), n, loops);
  });
}

void swap_ends(PieceLoops* loops) {
  std::swap(loops->first.from, loops->first.to);
  for (int d = 0; d < loops->ndim; ++d) std::swap(loops->strides[d].from, loops->strides[d].to);
  for (int r = 0; r < loops->first_run[loops->ndim]; ++r) {
    PieceLoops::LoopRun& run = loops->runs[r];
    std::swap(run.from, run.to);
    std::swap(run.from_step, run.to_step);
  }
}

/// Lists the moves: iteration i copies from sources[i] to targets[i].
__global__ void list_moves(PieceLoops loops, int64_t n, int64_t* sources, int64_t* targets) {
  for (int64_t i = first_item(); i < n; i += item_stride()) {
    const Strides at = loops.offsets(i);
    sources[i] = at.from;
    targets[i] = at.to;
  }
}

}  // namespace

PositionsBySlice positions_by_source(const GpuContext& ctx, const Pieces& pieces, int64_t count) {
  const std::vector<PieceLoops> parts = piece_loops(pieces);
  int64_t moves = 0;
  for (const PieceLoops& loops : parts) moves += loops.turns();
  const TensorMeta meta{{moves}, DataType::INT64};
  DenseTensor sources = DenseTensor::empty(meta, ctx.place());
  DenseTensor targets = DenseTensor::empty(meta, ctx.place());
  int64_t done = 0;
  for (const PieceLoops& loops : parts) {
    const int64_t n = loops.turns();
    launch(ctx, list_moves, blocks_for(ctx, n), kBlock, loops, n,
           sources.mutable_data<int64_t>() + done, targets.mutable_data<int64_t>() + done);
    done += n;
  }
  return positions_by_slice(ctx, sources, count, &targets);
}

void move_pieces(const GpuContext& ctx, const Pieces& pieces, const void* from, void* to,
                 size_t width) {
  for (const PieceLoops& loops : piece_loops(pieces)) move(ctx, loops, from, to, width);
}

void move_pieces_back(const GpuContext& ctx, const Pieces& pieces, const void* grad, void* from,
                      size_t width) {
  for (PieceLoops& loops : piece_loops(pieces)) {
    swap_ends(&loops);
    move(ctx, loops, grad, from, width);
  }
}

}  // namespace phi::gpu
