// Table lookups: embedding, gather, one_hot.
//
// Where the table is sharded along the looked-up tensor dim, ids that this rank does not hold give
// zeros, so that the ranks' results sum to the whole. Ids outside the global table are errors on
// every rank alike.
#pragma once

#include <cstdint>

#include "phi/core/attribute.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// T is weight's dtype; x is int32 or int64. A negative `padding_idx` means none.
/// Errors: InvalidArgument with the id, its position in x and the vocabulary's size.
template <typename T>
void EmbeddingKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& weight,
                     int64_t padding_idx, DenseTensor* out);

/// Any T. Errors: InvalidArgument with the index, its position and the extent.
template <typename T>
void GatherKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& index,
                  const Scalar& axis, DenseTensor* out);

/// T is x's dtype (int32, int64), out is float32. The number of classes is the global extent of
/// out's last tensor dim. Errors: InvalidArgument with the value, its position and that number.
template <typename T>
void OneHotKernel(const CpuContext& ctx, const DenseTensor& x, DenseTensor* out);

}  // namespace phi
