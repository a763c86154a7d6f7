// nonzero, masked_select and unique: kernels that find the shape of their outputs. An output comes
// with its dtype set and no storage, and is assigned. With them the gradient of masked_select.
#pragma once

#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/core/device_context.h"

namespace phi {

/// out: int64 [n, ndim], the coordinates of the n elements that are not zero, in row-major order
/// (NaN is not zero). T is any dtype.
template <typename T>
void NonZeroKernel(const CpuContext& ctx, const DenseTensor& condition, DenseTensor* out);

/// The elements of x where mask is true, row-major, 1-D; x and mask are broadcast to one shape.
/// T is any dtype.
template <typename T>
void MaskedSelectKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& mask,
                        DenseTensor* out);

/// Puts out_grad [n] back where mask is true, zeros elsewhere; an element of x that was broadcast
/// gets the sum of its places. x_grad is allocated. T in float, double, bfloat16, float16.
template <typename T>
void MaskedSelectGradKernel(const CpuContext& ctx, const DenseTensor& mask,
                            const DenseTensor& out_grad, DenseTensor* x_grad);

/// The different values of x in rising order; with an axis, the different slices along it in
/// lexicographic order. NaN counts as one value, larger than all others.
///
/// Of dtype `dtype`, and only if asked for: indices of first occurrences, for each item of x its
/// place in out (inverse), and for each item of out how often it occurs (counts).
template <typename T>
void UniqueKernel(const CpuContext& ctx, const DenseTensor& x, bool return_index,
                  bool return_inverse, bool return_counts, const std::vector<int>& axis,
                  DataType dtype, DenseTensor* out, DenseTensor* indices, DenseTensor* inverse,
                  DenseTensor* counts);

}  // namespace phi
