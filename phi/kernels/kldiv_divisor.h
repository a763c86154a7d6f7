// The divisor of the Kullback-Leibler divergence, by its attribute `reduction`.
#pragma once

#include <string>

#include "phi/core/kernel_registry.h"

namespace phi {

/// The number by which the sum of the local terms is divided: the number of elements of the global
/// x for "mean", its first extent for "batchmean", else 1.
inline double kldiv_divisor(const KernelContext& ctx, const DenseTensor& x,
                            const std::string& reduction) {
  const Dims global = ctx.input_box(0, x.dims()).global;
  if (reduction == "mean") return static_cast<double>(global.numel());
  return reduction == "batchmean" && global.ndim() > 0 ? static_cast<double>(global[0]) : 1;
}

}  // namespace phi
