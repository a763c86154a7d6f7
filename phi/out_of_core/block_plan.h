// Chooses block sizes for an out-of-core matmul: the fastest by estimate within a memory limit.
#pragma once

#include <cstdint>

#include "phi/out_of_core/blocked_array.h"

namespace phi::memory {

/// Costs by which blocks are chosen; only their ratios matter. The defaults are for one core and
/// one solid-state disk.
struct MatmulCosts {
  double flops_per_s = 60e9;
  double disk_bytes_per_s = 1e9;
  double request_s = 20e-6;  // per request to the disk
  double memory_bytes_per_s = 10e9;
};

/// op(c) = op(a) op(b), with shapes [m, n] = [m, k] [k, n]. A flag marks an array that is stored
/// transposed.
struct MatmulArrays {
  BlockedArray a;
  BlockedArray b;
  BlockedArray c;
  bool trans_a = false;
  bool trans_b = false;
  bool trans_c = false;

  int64_t m() const { return trans_c ? c.columns : c.rows; }
  int64_t n() const { return trans_c ? c.rows : c.columns; }
  int64_t k() const { return trans_a ? a.rows : a.columns; }
};

/// Returns an equivalent matmul with trans_c = false: if c is stored transposed, that of the
/// transposes of op(b) and op(a).
MatmulArrays with_c_as_stored(const MatmulArrays& arrays);

/// Block sizes. c as stored is computed in tiles of m x n, each by GEMMs over k summands. Tiles are
/// ordered by rows of tiles, or by columns of tiles if `by_columns`.
struct MatmulBlocks {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool by_columns = false;
  int a_slots = 0;  // number of buffers for a's blocks: the next block is read while one is used
  int b_slots = 0;
  int64_t tile_bytes = 0;       // buffer in which a tile of c is summed; 0 if it is summed in place
  int64_t staging_bytes = 0;    // size of each of the two buffers from which c is written
  int64_t workspace_bytes = 0;  // workspace of the kernel for one GEMM
  int64_t device_bytes = 0;     // total
  double seconds = 0;           // estimated time
};

/// Whether tiles of c are summed in c's own memory.
bool sums_in_place(const MatmulArrays& arrays);
/// Size in bytes of a buffer from which `rows` rows of a tile with `columns` columns of c are
/// written.
int64_t staging_bytes_for(const BlockedArray& c, int64_t rows, int64_t columns);

/// Returns the blocks of least estimated time that need at most `limit` bytes of device memory.
/// Errors: ResourceExhausted, naming the least limit that works.
MatmulBlocks plan_blocks(const MatmulArrays& arrays, int64_t limit, const MatmulCosts& costs);
/// Returns the least limit that works, in bytes.
int64_t least_device_bytes(const MatmulArrays& arrays);

}  // namespace phi::memory
