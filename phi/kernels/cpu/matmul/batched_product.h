// Products of batches of matrices, folded into as few GEMM calls as the layouts allow. The forward
// product and both of its gradients are such products.
//
//   const MatrixBatch x = matrices_of({2, 3, 4}, VectorIs::kRow);
//   const MatrixBatch y = matrices_of({5, 4}, VectorIs::kColumn);
//   batched_product<float>({x, false}, x_data, {y, true}, y_data, out, out_data);
#pragma once

#include <cstdint>

#include "phi/common/dims.h"

namespace phi {

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

/// c = op(a) op(b) for each member of the batch of a and b, which broadcast. Where c has size 1 or
/// no tensor dim in the batch, it is the sum over the members. T in float, double, bfloat16,
/// float16, complex64, complex128; sums of 16-bit numbers are kept in float and rounded once.
template <typename T>
void batched_product(const ProductOperand& a, const T* a_data, const ProductOperand& b,
                     const T* b_data, const MatrixBatch& c, T* c_data);

}  // namespace phi
