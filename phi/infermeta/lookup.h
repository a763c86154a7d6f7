// Shape and dtype inference of table lookups.
#pragma once

#include <cstdint>
#include <string_view>

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// Errors: InvalidArgument, naming the argument, if `index` is neither int32 nor int64.
void check_index_dtype(const TensorMeta& index, std::string_view name);

/// Rows of `weight` [V, D] for ids x [*] (int32 or int64): [*, D] of weight's dtype. A negative
/// `padding_idx` means none; otherwise it is an id whose row counts as zeros.
TensorMeta EmbeddingInferMeta(const TensorMeta& x, const TensorMeta& weight, int64_t padding_idx,
                              bool sparse);

/// Slices of x along `axis`, one for each of index's elements, [n] or [n, 1]; a 0-D index removes
/// the tensor dim.
TensorMeta GatherInferMeta(const TensorMeta& x, const TensorMeta& index, const Scalar& axis);

/// float32 [*, num_classes] for x [*] of int32 or int64.
TensorMeta OneHotInferMeta(const TensorMeta& x, const Scalar& num_classes);

}  // namespace phi
