// Shape and dtype inference of table lookups.
#pragma once

#include <cstdint>
#include <string_view>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// Errors: InvalidArgument, which names the argument, unless `index` is int32 or int64.
void check_index_dtype(const TensorMeta& index, std::string_view name);

/// [*, D] of weight's dtype for weight [V, D] and ids x [*] (int32 or int64). The row of id
/// `padding_idx` counts as zeros; a negative padding_idx disables this.
TensorMeta EmbeddingInferMeta(const TensorMeta& x, const TensorMeta& weight, int64_t padding_idx,
                              bool sparse);

/// x with one slice along `axis` per element of index, which is [n] or [n, 1]. A 0-D index removes
/// the tensor dim.
TensorMeta GatherInferMeta(const TensorMeta& x, const TensorMeta& index, const Scalar& axis);

/// float32 [*, num_classes] for x [*], which is int32 or int64.
TensorMeta OneHotInferMeta(const TensorMeta& x, const Scalar& num_classes);

}  // namespace phi
