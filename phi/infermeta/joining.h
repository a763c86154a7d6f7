// Shapes of ops on lists of tensors: join, take apart, choose between.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// Tensors of one shape, along a new tensor dim at `axis`.
TensorMeta StackInferMeta(std::span<const TensorMeta> x, int axis);

/// One tensor per index of `axis`, which goes. `num` must be its extent.
std::vector<TensorMeta> UnstackInferMeta(const TensorMeta& x, int axis, int num);
std::vector<TensorMeta> UnbindInferMeta(const TensorMeta& input, int axis);

std::vector<TensorMeta> BroadcastTensorsInferMeta(std::span<const TensorMeta> input);

/// Each of inputs has one tensor dim, or is one number.
std::vector<TensorMeta> MeshgridInferMeta(std::span<const TensorMeta> inputs);

/// inputs of one shape of 2 tensor dims or more; index is [rows, 1].
TensorMeta MultiplexInferMeta(std::span<const TensorMeta> inputs, const TensorMeta& index);

/// Columns start_index to start_index + length of matrices of one shape; a negative start counts
/// from the end, a negative length takes all that follow.
TensorMeta PartialConcatInferMeta(std::span<const TensorMeta> x, int start_index, int length);
TensorMeta PartialSumInferMeta(std::span<const TensorMeta> x, int start_index, int length);

}  // namespace phi
