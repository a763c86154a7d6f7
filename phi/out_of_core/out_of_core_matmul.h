// Products of matrices that do not fit in device memory: computed by blocks, while the next blocks
// are read and earlier results are written.
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
  /// Most bytes of device memory that blocks, buffers and the kernel's workspace may take.
  int64_t limit = 0;
  MatmulCosts costs{};
};

/// What a product took.
struct OutOfCoreStats {
  MatmulBlocks blocks;
  int64_t device_bytes = 0;  // held at once, at most the limit
  int64_t products = 0;      // of blocks
  int64_t bytes_read = 0;    // by blocks, also from the host
  int64_t bytes_written = 0;
};

/// op(arrays.c) = op(arrays.a) op(arrays.b).
///
/// Shapes   op(a) is [m, k], op(b) is [k, n], op(c) is [m, n]; any extent may be 0. All three have
///          one dtype: float32, float64, or bfloat16, which is summed in float32 and rounded once.
/// Where    Each may lie in device memory, in host memory or on disk, as rows any distance apart
///          from any element on. Bytes around c stay as they are. c must not overlap a or b.
/// Result   The sum over k is taken block by block in ascending order. It depends on shapes, limit
///          and costs alone: not on the I/O engine and not on what comes first from the disk. Where
///          the blocks are not those of one product in memory it is rounded in another order.
/// Memory   The blocks' buffers are taken before anything is computed and never exceed the limit.
///          Not counted: what the libraries behind gemm pack for themselves, some MiB.
/// Counts   Transfers of the calling rank: disk or host to device, and device to disk or host.
/// Errors   InvalidArgument for shapes, dtypes or arrays beyond their files; ResourceExhausted for
///          a limit that is too small, naming the least that works; those of the files. After an
///          error c holds some blocks of the result and what was there.
OutOfCoreStats out_of_core_matmul(const MatmulArrays& arrays, const OutOfCoreOptions& options);

}  // namespace phi::memory
