// Products of batches of matrices as few products of matrices: which there are, and where. Forward
// products and both of their gradients are such products, on every device.
#pragma once

#include <cstdint>

#include "phi/common/dims.h"
#include "phi/kernels/strided_walk.h"

namespace phi {

/// op(a) is [m, k], op(b) is [k, n], c is [m, n]; a flag says that the argument is stored
/// transposed.
struct GemmShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool trans_a = false;
  bool trans_b = false;
};

/// An array as stored: row-major matrices, one per element of `batch`.
struct MatrixBatch {
  Dims batch;
  int64_t rows = 1;
  int64_t columns = 1;

  int64_t matrix_size() const { return rows * columns; }
};

enum class VectorIs : uint8_t { kRow, kColumn };

/// The last two tensor dims are the matrix; a 1-D array is a single row or column.
MatrixBatch matrices_of(const Dims& dims, VectorIs vector);

/// The batch of two arrays that are broadcast against each other.
Dims broadcast_batch(const Dims& a, const Dims& b);

struct ProductOperand {
  MatrixBatch matrices;
  bool transposed = false;
};

/// The GEMM of one member and the loops around it. Offsets count elements of a, b and c.
struct ProductPlan {
  GemmShape shape;
  int64_t lda;
  int64_t ldb;
  StridedWalk<3> kept;    // each turn makes another matrix of c
  StridedWalk<3> summed;  // each turn adds to the same
};

/// c = op(a) op(b) for each member of the batch of a and b, which broadcast. Where c has size 1 or
/// no tensor dim in the batch, it is the sum over the members.
ProductPlan plan_product(const ProductOperand& a, const ProductOperand& b, const MatrixBatch& c);

}  // namespace phi
