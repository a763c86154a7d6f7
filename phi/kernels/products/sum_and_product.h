// What a sum of an array and a product of matrices (addmm) shares on all devices.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi {

/// The numbers of x's second tensor dim begin here: one rank of those that share it adds the input.
inline bool has_first_part(const KernelContext& ctx, const DenseTensor& x) {
  return ctx.input_box(1, x.dims()).box.offset[1] == 0;
}

/// How many products an element sums: none where they count 0 times, and nothing is read of them.
inline int64_t counted(float alpha, int64_t inner) { return alpha == 0 ? 0 : inner; }

}  // namespace phi
