// Reduction kernels. An empty `axis` is all; negative ones count from the back.
#pragma once

#include "phi/core/attribute.h"
#include "phi/core/device_context.h"

namespace phi {

/// T is x's dtype; out may be of any other, which elements are cast to before they are added.
template <typename T>
void SumKernel(const CpuContext& ctx, const DenseTensor& x, const IntArray& axis, DenseTensor* out);

/// The local sum over the *global* number of elements, so that the results of the ranks that hold
/// parts of x add up to the mean. Means of integers lose their fraction; the ranks that share what
/// is reduced add up their sums, and one of them holds the mean.
template <typename T>
void MeanKernel(const CpuContext& ctx, const DenseTensor& x, const IntArray& axis,
                DenseTensor* out);

/// NaN wins; -inf (the lowest integer) where there is nothing to reduce, as in an empty shard.
template <typename T>
void MaxKernel(const CpuContext& ctx, const DenseTensor& x, const IntArray& axis, DenseTensor* out);

/// The sum of x over the tensor dims that broadcast out's shape to x's: those that out lacks, and
/// those of size 1 in out alone.
template <typename T>
void ReduceAsKernel(const CpuContext& ctx, const DenseTensor& x, DenseTensor* out);

/// The sum of squares, in float64 until it is stored: out is float32, or float64 for double.
template <typename T>
void SquaredL2NormKernel(const CpuContext& ctx, const DenseTensor& x, DenseTensor* out);

/// The first index of the largest element (of the first NaN, if any); out is int32 or int64.
template <typename T>
void ArgMaxKernel(const CpuContext& ctx, const DenseTensor& x, const Scalar& axis, bool flatten,
                  DenseTensor* out);

}  // namespace phi
