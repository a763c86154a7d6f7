// Norms over some tensor dims.
#pragma once

#include "phi/generated/kernels/norms.h"
#include "phi/kernels/tables/reduction/p_norm.h"

namespace phi {

template <typename T, typename Context>
void PNormKernel(const Context& ctx, const DenseTensor& x, float porder, int axis, bool asvector,
                 DenseTensor* out) {
  p_norm<T>(ctx, x, normalise_axes(asvector ? IntArray() : IntArray({axis}), x.dims()), porder,
            out->mutable_data<T>());
}

template <typename T, typename Context>
void FrobeniusNormKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis,
                         bool reduce_all, DenseTensor* out) {
  euclidean_norm<T>(ctx, x, normalise_axes(reduce_all ? IntArray() : axis, x.dims()),
                    out->mutable_data<T>());
}

PHI_REGISTER_KERNEL(p_norm, PHI_DEVICE, PNormKernel, Floats);
PHI_REGISTER_KERNEL(frobenius_norm, PHI_DEVICE, FrobeniusNormKernel, Floats);

}  // namespace phi
