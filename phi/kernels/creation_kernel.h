// Kernels that make arrays from attributes.
#pragma once

#include "phi/core/attribute.h"
#include "phi/core/device_context.h"

namespace phi {

/// Every element is `value`.
template <typename T>
void FullKernel(const CpuContext& ctx, const Scalar& value, DenseTensor* out);

/// Element i of the global array is start + i step.
template <typename T>
void ArangeKernel(const CpuContext& ctx, const Scalar& start, const Scalar& step, DenseTensor* out);

}  // namespace phi
