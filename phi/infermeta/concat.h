// Shapes of ops on lists of tensors: stack, unstack, broadcast, select.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// Stacks tensors of one shape along a new tensor dim `axis`.
TensorMeta StackInferMeta(std::span<const TensorMeta> x, int axis);

/// One tensor per index of `axis`, which is removed. `num` must equal its extent.
std::vector<TensorMeta> UnstackInferMeta(const TensorMeta& x, int axis, int num);
std::vector<TensorMeta> UnbindInferMeta(const TensorMeta& input, int axis);

/// Each tensor of input, broadcast to their common shape. All must have one dtype.
std::vector<TensorMeta> BroadcastTensorsInferMeta(std::span<const TensorMeta> input);

/// Each of inputs is 1-D or 0-D.
std::vector<TensorMeta> MeshgridInferMeta(std::span<const TensorMeta> inputs);

/// inputs have one shape of at least two tensor dims; index is [rows, 1].
TensorMeta MultiplexInferMeta(std::span<const TensorMeta> inputs, const TensorMeta& index);

/// Concatenates columns [start_index, start_index + length) of matrices of one shape. A negative
/// start counts from the end; a negative length extends to the last column.
TensorMeta PartialConcatInferMeta(std::span<const TensorMeta> x, int start_index, int length);
/// The sum of such columns.
TensorMeta PartialSumInferMeta(std::span<const TensorMeta> x, int start_index, int length);

/// The first column that partial_concat and partial_sum read; a negative start_index counts from
/// the last of `columns`.
inline int64_t first_column(int start_index, int64_t columns) {
  return start_index < 0 ? start_index + columns : start_index;
}

}  // namespace phi
