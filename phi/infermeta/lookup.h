// Shape and dtype inference of table lookups.
#pragma once

#include <cstdint>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// Rows of `weight` [V, D] for ids x [*] (int32 or int64): [*, D] of weight's dtype. A negative
/// `padding_idx` means none; otherwise it is an id whose row counts as zeros.
TensorMeta EmbeddingInferMeta(const TensorMeta& x, const TensorMeta& weight, int64_t padding_idx,
                              bool sparse);

/// Slices of x along `axis`: the result has index's extents in place of tensor dim `axis`, which a
/// 0-D index therefore removes.
TensorMeta GatherInferMeta(const TensorMeta& x, const TensorMeta& index, const Scalar& axis);

/// float32 [*, num_classes] for x [*] of int32 or int64.
TensorMeta OneHotInferMeta(const TensorMeta& x, const Scalar& num_classes);

}  // namespace phi
