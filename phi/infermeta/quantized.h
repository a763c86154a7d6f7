// Shapes and dtypes of matmuls with 8-bit weights.
#pragma once

#include <string>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// (out, scale) for x [k, n]: out is int8 [n, k]. scale is float32 (float64 for float64): [n], or
/// [ceil(k / group_size), n] for a positive group_size. `algo` is weight_only_int8 or llm.int8.
/// `arch`, a kind of GPU, has no effect. Errors: InvalidArgument; Unimplemented for 4-bit
/// algorithms.
std::tuple<TensorMeta, TensorMeta> WeightQuantizeInferMeta(const TensorMeta& x,
                                                           const std::string& algo, int arch,
                                                           int group_size);
/// [k, n] for x int8 [n, k] and its scale.
TensorMeta WeightDequantizeInferMeta(const TensorMeta& x, const TensorMeta& scale,
                                     const std::string& algo, DataType out_dtype, int group_size);
/// [..., n] for x [..., k], weight int8 [n, k] with its scale, and an optional bias [n].
TensorMeta WeightOnlyLinearInferMeta(const TensorMeta& x, const TensorMeta& weight,
                                     const TensorMeta* bias, const TensorMeta& weight_scale,
                                     const std::string& weight_dtype, int arch, int group_size);

}  // namespace phi
