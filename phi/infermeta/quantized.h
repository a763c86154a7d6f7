// Shapes and dtypes of products with weights of 8 bits.
#pragma once

#include <string>
#include <tuple>

#include "phi/core/meta.h"

namespace phi {

/// Gives out int8 [n, k] and scale, float32 (float64 of float64), of x [k, n]: [n], or [ceil(k /
/// group_size), n] for a group_size above 0. `algo` is weight_only_int8 or llm.int8. Errors:
/// InvalidArgument; of the algorithms of 4 bits Unimplemented. The arrays are the same for each
/// `arch`, a kind of GPU.
std::tuple<TensorMeta, TensorMeta> WeightQuantizeInferMeta(const TensorMeta& x,
                                                           const std::string& algo, int arch,
                                                           int group_size);
/// Gives [k, n] of x int8 [n, k] and its scale.
TensorMeta WeightDequantizeInferMeta(const TensorMeta& x, const TensorMeta& scale,
                                     const std::string& algo, DataType out_dtype, int group_size);
/// Gives [..., n] of x [..., k], weight int8 [n, k], bias [n], which may be absent, and the
/// weight's scale.
TensorMeta WeightOnlyLinearInferMeta(const TensorMeta& x, const TensorMeta& weight,
                                     const TensorMeta* bias, const TensorMeta& weight_scale,
                                     const std::string& weight_dtype, int arch, int group_size);

}  // namespace phi
