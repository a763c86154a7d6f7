// Common parts of addmm, the sum of an array and a matmul, on all devices.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi {

/// Whether this rank has the first part of x's second tensor dim. If that dim is sharded, only this
/// rank adds the input.
inline bool has_first_part(const KernelContext& ctx, const DenseTensor& x) {
  return ctx.input_box(1, x.dims()).box.offset[1] == 0;
}

/// The number of products per element: 0 if alpha is 0, so that x and y are not read.
inline int64_t counted(float alpha, int64_t inner) { return alpha == 0 ? 0 : inner; }

}  // namespace phi
