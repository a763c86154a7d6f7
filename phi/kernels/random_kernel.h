// Random kernels. What an element draws depends on the seed and its index in the global tensor.
#pragma once

#include <cstdint>
#include <string>

#include "phi/core/attribute.h"
#include "phi/core/device_context.h"

namespace phi {

template <typename T>
void GaussianKernel(const CpuContext& ctx, float mean, float std, int seed, DenseTensor* out);

template <typename T>
void UniformKernel(const CpuContext& ctx, const Scalar& min, const Scalar& max, int seed,
                   DenseTensor* out);

/// Drops elements with probability p; `mask` (uint8) is 1 where one was kept. In training
/// "upscale_in_train" divides what is kept by 1 - p; in inference "downscale_in_infer" multiplies
/// all by 1 - p, and nothing is dropped. The seed is seed_tensor's one element if given.
/// Errors: InvalidArgument for p outside [0, 1], another mode, a seed_tensor of more elements.
template <typename T>
void DropoutKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor* seed_tensor,
                   const Scalar& p, bool is_test, const std::string& mode, int seed, bool fix_seed,
                   DenseTensor* out, DenseTensor* mask);

/// The gradient where an element was kept, times the factor that DropoutKernel kept it with; in
/// inference that factor for all. Errors as there.
template <typename T>
void DropoutGradKernel(const CpuContext& ctx, const DenseTensor& mask, const DenseTensor& out_grad,
                       const Scalar& p, bool is_test, const std::string& mode, DenseTensor* x_grad);

}  // namespace phi
