// Shapes and dtypes of ops that fill tensors from attributes, and of ops that return shapes.
// Errors: those of check_held for a value that the dtype cannot represent.
#pragma once

#include <cstdint>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// `shape` with shape[output_dim_idx] replaced by the extent of input[input_dim_idx].
TensorMeta FullBatchSizeLikeInferMeta(const TensorMeta& input, const std::vector<int>& shape,
                                      DataType dtype, const Scalar& value, int input_dim_idx,
                                      int output_dim_idx);

/// `value` as a 1-D array.
TensorMeta FullIntArrayInferMeta(const std::vector<int64_t>& value, DataType dtype);

/// `value` has one element, whose dtype is used if `dtype` is UNDEFINED.
TensorMeta FullWithTensorInferMeta(const TensorMeta& value, const IntArray& shape, DataType dtype);

/// `values` as an array of `shape`. Errors: also InvalidArgument if their number differs.
TensorMeta AssignValueInferMeta(const std::vector<int>& shape, DataType dtype,
                                const std::vector<Scalar>& values);

/// A matrix. num_columns -1 means a square one.
TensorMeta EyeInferMeta(const Scalar& num_rows, const Scalar& num_columns, DataType dtype);

/// `number` elements; `number` is at least 0.
TensorMeta LinspaceInferMeta(const Scalar& start, const Scalar& stop, const Scalar& number,
                             DataType dtype);

/// `num` elements; `num` is at least 1.
TensorMeta LogspaceInferMeta(const Scalar& start, const Scalar& stop, const Scalar& num,
                             const Scalar& base, DataType dtype);

/// [2, n]: row and column of each element on or below diagonal `offset`.
TensorMeta TrilIndicesInferMeta(int rows, int cols, int offset, DataType dtype);
/// [2, n]: row and column of each element on or above diagonal `offset`.
TensorMeta TriuIndicesInferMeta(int row, int col, int offset, DataType dtype);

/// x with a new last tensor dim of max_len. If max_len is negative, that extent is unknown until
/// the kernel reads x.
TensorMeta SequenceMaskInferMeta(const TensorMeta& x, const Scalar& max_len, DataType out_dtype);

/// Returns input's meta. Errors: also InvalidArgument unless input has an integral dtype and a last
/// extent of 1, index_num and nshards are positive, and shard_id is in [0, nshards).
TensorMeta ShardIndexInferMeta(const TensorMeta& input, int index_num, int nshards, int shard_id,
                               int ignore_value);

/// A 0-D int64.
TensorMeta NumelInferMeta(const TensorMeta& x);
/// int32 [ndim].
TensorMeta ShapeInferMeta(const TensorMeta& input);
/// int64 [ndim].
TensorMeta Shape64InferMeta(const TensorMeta& input);
/// A 0-D bool.
TensorMeta IsEmptyInferMeta(const TensorMeta& x);

}  // namespace phi
