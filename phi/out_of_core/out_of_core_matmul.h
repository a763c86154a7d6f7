// out_of_core_matmul: matmul of matrices that do not fit in device memory. It computes by blocks,
// while the next blocks are read and earlier results are written.
//
//   MatmulArrays arrays{.a = BlockedArray::on_disk(file_a, DataType::FLOAT32, m, k),
//                       .b = BlockedArray::on_disk(file_b, DataType::FLOAT32, n, k),
//                       .c = BlockedArray::on_disk(file_c, DataType::FLOAT32, m, n),
//                       .trans_b = true};
//   out_of_core_matmul(arrays, {.limit = int64_t{1} << 30});
#pragma once

#include <cstdint>

#include "phi/out_of_core/block_plan.h"

namespace phi::memory {

struct OutOfCoreOptions {
  /// Limit in bytes of the device memory for blocks, buffers and the kernel's workspace.
  int64_t limit = 0;
  MatmulCosts costs{};
};

/// Statistics of one matmul.
struct OutOfCoreStats {
  MatmulBlocks blocks;
  int64_t device_bytes = 0;  // device memory that was allocated; at most the limit
  int64_t products = 0;      // number of block GEMMs
  int64_t bytes_read = 0;    // bytes of blocks that were read, from disk or host
  int64_t bytes_written = 0;
};

/// Computes op(arrays.c) = op(arrays.a) op(arrays.b).
///
/// Shapes   op(a) is [m, k], op(b) is [k, n], op(c) is [m, n]; any extent may be 0. All three have
///          one dtype: float32, float64, or bfloat16, which is summed in float32 and rounded once.
/// Where    Each array may be in device memory, in host memory or on disk, with any row stride and
///          from any element on. Bytes around c are not changed. c must not overlap a or b.
/// Result   Sums over k are computed block by block in ascending order. The result depends only on
///          shapes, limit and costs: not on the I/O engine and not on the order in which reads
///          complete. With several blocks the rounding may differ from that of one GEMM in memory.
/// Memory   All buffers are allocated before the computation and never exceed the limit. Packing
///          buffers inside the GEMM libraries, some MiB, are not counted.
/// Counts   Transfers of the calling rank: disk or host to device, and device to disk or host.
/// Errors   InvalidArgument for wrong shapes or dtypes, or arrays beyond their files;
///          ResourceExhausted for a limit that is too small, naming the least that works; those of
///          the files. After an error c contains some blocks of the result and some old contents.
OutOfCoreStats out_of_core_matmul(const MatmulArrays& arrays, const OutOfCoreOptions& options);

}  // namespace phi::memory
