// Elementwise kernels of several inputs. Inputs broadcast to out's dims; out may be the first
// input.
#pragma once

#include <span>

#include "phi/core/device_context.h"

namespace phi {

template <typename T>
void AddKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& y, DenseTensor* out);
template <typename T>
void SubtractKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& y,
                    DenseTensor* out);
template <typename T>
void MultiplyKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& y,
                    DenseTensor* out);
/// Integers lose their fraction, as in C++. Errors: InvalidArgument if one is divided by 0.
template <typename T>
void DivideKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& y,
                  DenseTensor* out);
/// NaN wins.
template <typename T>
void MaximumKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& y,
                   DenseTensor* out);

/// Comparisons: T is the inputs' dtype, out is bool. Nothing equals NaN or is at least NaN.
template <typename T>
void EqualKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& y,
                 DenseTensor* out);
template <typename T>
void GreaterEqualKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor& y,
                        DenseTensor* out);

/// x where `condition` (bool), else y.
template <typename T>
void WhereKernel(const CpuContext& ctx, const DenseTensor& condition, const DenseTensor& x,
                 const DenseTensor& y, DenseTensor* out);

/// The sum of `inputs`, all of out's dims.
template <typename T>
void AddNKernel(const CpuContext& ctx, std::span<const DenseTensor* const> inputs,
                DenseTensor* out);

}  // namespace phi
