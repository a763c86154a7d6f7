// Shapes of ops on matrix diagonals.
#pragma once

#include <cstdint>

#include "phi/core/meta.h"

namespace phi {

/// For a vector (or number): the square matrix with it on diagonal `offset`. For a matrix: its
/// diagonal `offset`.
TensorMeta DiagInferMeta(const TensorMeta& x, int offset, float padding_value);

/// x without tensor dims axis1 and axis2, followed by their diagonal `offset` as the last dim.
TensorMeta DiagonalInferMeta(const TensorMeta& x, int offset, int axis1, int axis2);

/// The last tensor dim of input becomes a diagonal over tensor dims dim1 and dim2 of the result.
TensorMeta DiagEmbedInferMeta(const TensorMeta& input, int offset, int dim1, int dim2);

/// Returns the meta of x, which has two tensor dims, or more of equal extent.
TensorMeta FillDiagonalInferMeta(const TensorMeta& x, float value);

/// Returns x's meta. y must have the shape of x's diagonal.
TensorMeta FillDiagonalTensorInferMeta(const TensorMeta& x, const TensorMeta& y, int64_t offset,
                                       int dim1, int dim2);

/// The number of elements on diagonal `offset` of a rows x columns matrix.
int64_t diagonal_length(int64_t rows, int64_t columns, int64_t offset);

}  // namespace phi
