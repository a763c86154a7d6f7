// What each kernel takes, for PHI_REGISTER_KERNEL to check and for launch to call.
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/kernel_registry.h"

namespace phi::kernels {

using bmm = KernelSignature<const DenseTensor&, const DenseTensor&, DenseTensor*>;
using concat = KernelSignature<std::span<const DenseTensor* const>, const Scalar&, DenseTensor*>;
using full = KernelSignature<const Scalar&, DenseTensor*>;
using matmul = KernelSignature<const DenseTensor&, const DenseTensor&, bool, bool, DenseTensor*>;
using matmul_grad = KernelSignature<const DenseTensor&, const DenseTensor&, const DenseTensor&,
                                    bool, bool, DenseTensor*, DenseTensor*>;
using momentum =
    KernelSignature<const DenseTensor&, const DenseTensor&, const DenseTensor&, const DenseTensor*,
                    float, DenseTensor*, DenseTensor*, DenseTensor*>;
using nonzero = KernelSignature<const DenseTensor&, DenseTensor*>;
using norm =
    KernelSignature<const DenseTensor&, const DenseTensor*, float, DenseTensor*, DenseTensor*>;
using norm_grad = KernelSignature<const DenseTensor&, const DenseTensor*, const DenseTensor&,
                                  const DenseTensor&, float, bool, DenseTensor*, DenseTensor*>;
using relu = KernelSignature<const DenseTensor&, DenseTensor*>;
using relu_grad = KernelSignature<const DenseTensor&, const DenseTensor&, DenseTensor*>;
using reshape = KernelSignature<const DenseTensor&, DenseTensor*>;
using split = KernelSignature<const DenseTensor&, const Scalar&, std::span<DenseTensor* const>>;

}  // namespace phi::kernels
