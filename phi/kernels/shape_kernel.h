// Kernels that move elements without changing them. What shape the result has, they read from out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/device_context.h"

namespace phi {

/// The same elements in row-major order; also squeeze and unsqueeze. out may be x.
template <typename T>
void ReshapeKernel(const CpuContext& ctx, const DenseTensor& x, DenseTensor* out);

template <typename T>
void TransposeKernel(const CpuContext& ctx, const DenseTensor& x, const std::vector<int>& perm,
                     DenseTensor* out);

/// `axis` is whole on every rank.
template <typename T>
void ConcatKernel(const CpuContext& ctx, std::span<const DenseTensor* const> x, const Scalar& axis,
                  DenseTensor* out);

/// `axis` is whole on every rank.
template <typename T>
void SplitKernel(const CpuContext& ctx, const DenseTensor& x, const Scalar& axis,
                 std::span<DenseTensor* const> out);

/// The tensor dims in `axes` are whole on every rank.
template <typename T>
void SliceKernel(const CpuContext& ctx, const DenseTensor& input, const std::vector<int64_t>& axes,
                 const IntArray& starts, const IntArray& ends, DenseTensor* out);

/// out_grad in the place of the slice, zeros around it. The tensor dims in `axes` are whole on
/// every rank.
template <typename T>
void SliceGradKernel(const CpuContext& ctx, const DenseTensor& out_grad,
                     const std::vector<int64_t>& axes, const IntArray& starts, const IntArray& ends,
                     DenseTensor* input_grad);

template <typename T>
void ExpandKernel(const CpuContext& ctx, const DenseTensor& x, DenseTensor* out);

/// Zero above the diagonal of the *global* matrices, whatever part of them is here. out may be x.
template <typename T>
void TrilKernel(const CpuContext& ctx, const DenseTensor& x, int diagonal, DenseTensor* out);

}  // namespace phi
