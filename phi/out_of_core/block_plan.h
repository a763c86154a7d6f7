// The blocks in which a product is computed that does not fit: chosen by cost, within a limit.
#pragma once

#include <cstdint>

#include "phi/out_of_core/blocked_array.h"

namespace phi::memory {

/// What the choice goes by; only their proportions matter. The defaults are of one core and one
/// solid-state disk.
struct MatmulCosts {
  double flops_per_s = 60e9;
  double disk_bytes_per_s = 1e9;
  double request_s = 20e-6;  // of one more request to the disk
  double memory_bytes_per_s = 10e9;
};

/// c = op(a) op(b), [m, n] = [m, k] [k, n]; a flag says that an array is stored transposed.
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

/// The same product with c as it is stored: of op(b) and op(a) transposed, where c is.
MatmulArrays with_c_as_stored(const MatmulArrays& arrays);

/// A tile of m x n of c as stored is computed at a time, by products over k summands each. Tiles
/// follow each other along a row of tiles of c, or, if `by_columns`, along a column.
struct MatmulBlocks {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool by_columns = false;
  int a_slots = 0;  // buffers of a's blocks: the next is read while one is used
  int b_slots = 0;
  int64_t tile_bytes = 0;       // where c is summed, unless it is in place
  int64_t staging_bytes = 0;    // of each of two buffers that c is written from
  int64_t workspace_bytes = 0;  // that the kernel takes for such a product
  int64_t device_bytes = 0;     // all of it
  double seconds = 0;           // as estimated
};

/// c can be summed where it lies.
bool sums_in_place(const MatmulArrays& arrays);
/// Of one of the buffers that `rows` rows of a tile of `columns` columns of c are written from.
int64_t staging_bytes_for(const BlockedArray& c, int64_t rows, int64_t columns);

/// The blocks of least estimated time among those that take at most `limit` bytes. Errors:
/// ResourceExhausted naming the least limit that works.
MatmulBlocks plan_blocks(const MatmulArrays& arrays, int64_t limit, const MatmulCosts& costs);
/// That least limit, in bytes.
int64_t least_device_bytes(const MatmulArrays& arrays);

}  // namespace phi::memory
