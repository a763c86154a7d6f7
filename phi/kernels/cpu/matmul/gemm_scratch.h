// Scratch memory of matmuls, which only half precision needs: which method multiplies, how it
// splits the work over threads, and how much memory each thread keeps. gemm_half.cc allocates what
// this header computes, and the statements of kernels (core/device/scratch_context.h) plan it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "phi/core/storage/planned_scratch.h"
#include "phi/kernels/cpu/matmul/bf16_tiles.h"
#include "phi/kernels/cpu/matmul/gemm.h"

namespace phi {

/// Plans the memory of gemm<T, Out> of this shape, with the method and the threads that this
/// process would use.
template <typename T, typename Out>
void plan_gemm_scratch(const GemmShape& shape, PlannedScratch* scratch, GemmIsa isa = gemm_isa());

/// Plans the memory of reserve_steps(steps).
void plan_reserved_steps(int64_t steps, PlannedScratch* scratch);

namespace detail {

/// Memory that a thread keeps for its matmuls.
struct GemmWorkspaces {
  Workspace left;                    // tiles of some rows of a
  Workspace right;                   // tiles of some columns of b
  Workspace wide_a, wide_b, wide_c;  // a panel of a, all of b, and a panel of c, in float
};
GemmWorkspaces& gemm_workspaces();

/// kSkinny: skinny_gemm.h; kTiles: bf16_tiles.h; kWidened: a matmul of float.
enum class HalfMethod : uint8_t { kSkinny, kTiles, kWidened };
template <typename T>
HalfMethod half_method(const GemmShape& shape, GemmIsa isa);

/// A matmul of kSkinny or kTiles, split over threads along the longer side of c.
struct ThreadParts {
  explicit ThreadParts(const GemmShape& shape);

  /// The shape of the part that begins at this row or column.
  GemmShape at(int64_t begin) const {
    GemmShape part = whole;
    (by_rows ? part.m : part.n) = std::min(step, extent - begin);
    return part;
  }

  GemmShape whole;
  int64_t threads;
  bool by_rows;
  int64_t extent, step;  // of the split side, and of a part
};

inline constexpr int64_t kPanelRows = 256;  // rows of a that are widened at a time

/// Columns of b that are packed at a time.
int64_t packed_columns(const GemmShape& part);

// Elements of workspaces.

inline int64_t right_size(const GemmShape& part) {
  return bf16_tiles::packed_size(packed_columns(part), part.k);
}
inline int64_t wide_b_size(const GemmShape& s) { return s.k * s.n; }
inline int64_t wide_a_size(const GemmShape& s) { return std::min(kPanelRows, s.m) * s.k; }
/// Sums that are not stored as Out directly.
template <typename Out>
int64_t wide_c_size(const GemmShape& s) {
  return std::is_same_v<Out, float> ? 0 : std::min(kPanelRows, s.m) * s.n;
}

}  // namespace detail
}  // namespace phi
