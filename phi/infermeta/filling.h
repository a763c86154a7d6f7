// Shapes and dtypes of ops that fill tensors with values that attributes say, and that tell of
// shapes. Errors: those of check_held for a value that the dtype does not hold.
#pragma once

#include <cstdint>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// `shape` with the extent of input[input_dim_idx] in the place of shape[output_dim_idx].
TensorMeta FullBatchSizeLikeInferMeta(const TensorMeta& input, const std::vector<int>& shape,
                                      DataType dtype, const Scalar& value, int input_dim_idx,
                                      int output_dim_idx);

TensorMeta FullIntArrayInferMeta(const std::vector<int64_t>& value, DataType dtype);

/// `value` has one element; an UNDEFINED dtype is that of value.
TensorMeta FullWithTensorInferMeta(const TensorMeta& value, const IntArray& shape, DataType dtype);

TensorMeta AssignValueInferMeta(const std::vector<int>& shape, DataType dtype,
                                const std::vector<Scalar>& values);

/// num_columns -1 is as many as there are rows.
TensorMeta EyeInferMeta(const Scalar& num_rows, const Scalar& num_columns, DataType dtype);

/// `number` elements, 0 or more.
TensorMeta LinspaceInferMeta(const Scalar& start, const Scalar& stop, const Scalar& number,
                             DataType dtype);

/// `num` elements, 1 or more.
TensorMeta LogspaceInferMeta(const Scalar& start, const Scalar& stop, const Scalar& num,
                             const Scalar& base, DataType dtype);

/// [2, n]: row and column of each element on or below diagonal number `offset`.
TensorMeta TrilIndicesInferMeta(int rows, int cols, int offset, DataType dtype);
/// The same on or above it.
TensorMeta TriuIndicesInferMeta(int row, int col, int offset, DataType dtype);

/// A new last tensor dim of max_len, known only from x's values where that is negative.
TensorMeta SequenceMaskInferMeta(const TensorMeta& x, const Scalar& max_len, DataType out_dtype);

TensorMeta ShardIndexInferMeta(const TensorMeta& input, int index_num, int nshards, int shard_id,
                               int ignore_value);

/// int64, 0-D.
TensorMeta NumelInferMeta(const TensorMeta& x);
/// int32, one element per tensor dim.
TensorMeta ShapeInferMeta(const TensorMeta& input);
/// The same in int64.
TensorMeta Shape64InferMeta(const TensorMeta& input);
/// bool, 0-D.
TensorMeta IsEmptyInferMeta(const TensorMeta& x);

}  // namespace phi
