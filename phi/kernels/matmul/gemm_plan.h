// Plans batched matmuls as GEMMs and loops around them. Forward matmuls and both of their gradients
// use it on every device.
#pragma once

#include <cstdint>

#include "phi/common/dims.h"
#include "phi/kernels/strided_walk.h"

namespace phi {

/// op(a) is [m, k], op(b) is [k, n] and c is [m, n]. A flag means that the argument is stored
/// transposed.
struct GemmShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool trans_a = false;
  bool trans_b = false;
};

/// A stored array: one row-major matrix per element of `batch`.
struct MatrixBatch {
  Dims batch;
  int64_t rows = 1;
  int64_t columns = 1;

  int64_t matrix_size() const { return rows * columns; }
};

enum class VectorIs : uint8_t { kRow, kColumn };

/// The last two tensor dims are the matrix. A 1-D array is one row or one column.
MatrixBatch matrices_of(const Dims& dims, VectorIs vector);

/// The broadcast of two batches.
Dims broadcast_batch(const Dims& a, const Dims& b);

struct GemmOperand {
  MatrixBatch matrices;
  bool transposed = false;
};

/// One GEMM and the loops around it. Offsets count elements of a, b and c.
struct GemmPlan {
  GemmShape shape;
  int64_t lda;
  int64_t ldb;
  StridedWalk<3> kept;    // iterations write different matrices of c
  StridedWalk<3> summed;  // iterations add to the same matrix
};

/// c = op(a) op(b) for each member of the batch of a and b, which are broadcast. Along batch dims
/// where c has size 1 or no tensor dim, c is the sum over the members.
GemmPlan plan_gemms(const GemmOperand& a, const GemmOperand& b, const MatrixBatch& c);

}  // namespace phi
