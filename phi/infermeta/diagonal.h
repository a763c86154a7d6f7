// Shapes of ops on diagonals of matrices.
#pragma once

#include <cstdint>

#include "phi/core/meta.h"

namespace phi {

/// Of a vector (or number) the square matrix that has it on diagonal number `offset`; of a matrix
/// that diagonal.
TensorMeta DiagInferMeta(const TensorMeta& x, int offset, float padding_value);

/// The tensor dims other than axis1 and axis2, then the diagonal number `offset` of these.
TensorMeta DiagonalInferMeta(const TensorMeta& x, int offset, int axis1, int axis2);

/// The last tensor dim becomes a diagonal of the tensor dims dim1 and dim2 of the result.
TensorMeta DiagEmbedInferMeta(const TensorMeta& input, int offset, int dim1, int dim2);

/// x has two tensor dims, or more of one extent.
TensorMeta FillDiagonalInferMeta(const TensorMeta& x, float value);

/// y has the shape of x's diagonal.
TensorMeta FillDiagonalTensorInferMeta(const TensorMeta& x, const TensorMeta& y, int64_t offset,
                                       int dim1, int dim2);

/// Elements of diagonal number `offset` of a matrix.
int64_t diagonal_length(int64_t rows, int64_t columns, int64_t offset);

}  // namespace phi
