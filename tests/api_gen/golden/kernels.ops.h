// Parameter types of these kernels, which PHI_REGISTER_KERNEL checks.
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "phi/core/attribute.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/kernel_registry.h"

namespace phi::kernels {

struct batch_norm {
  using Signature =
      KernelSignature<const DenseTensor&, const DenseTensor&, std::span<const DenseTensor* const>,
                      const DenseTensor*, float, const std::optional<int>&, DenseTensor*,
                      DenseTensor*, DenseTensor*, DenseTensor*>;
  using Parameters = KernelParameters<"x", "mean", "more", "variance", "momentum", "seed", "out",
                                      "mean_out", "variance_out", "saved">;
  static constexpr const char* kName = "batch_norm";
};
struct bmm {
  using Signature = KernelSignature<const DenseTensor&, const DenseTensor&, DenseTensor*>;
  using Parameters = KernelParameters<"x", "y", "out">;
  static constexpr const char* kName = "bmm";
};
struct check_finite {
  using Signature = KernelSignature<std::span<const DenseTensor* const>, const DenseTensor&,
                                    std::span<DenseTensor* const>, DenseTensor*>;
  using Parameters = KernelParameters<"x", "scale", "out", "found">;
  static constexpr const char* kName = "check_finite";
};
struct concat {
  using Signature =
      KernelSignature<std::span<const DenseTensor* const>, const Scalar&, DenseTensor*>;
  using Parameters = KernelParameters<"x", "axis", "out">;
  static constexpr const char* kName = "concat";
};
struct distribute {
  using Signature =
      KernelSignature<const DenseTensor&, std::span<const DenseTensor* const>, int,
                      std::span<DenseTensor* const>, std::span<DenseTensor* const>, DenseTensor*>;
  using Parameters = KernelParameters<"rois", "levels", "least", "parts", "counts", "order">;
  static constexpr const char* kName = "distribute";
};
struct full {
  using Signature = KernelSignature<const Scalar&, DenseTensor*>;
  using Parameters = KernelParameters<"value", "out">;
  static constexpr const char* kName = "full";
};
struct matmul {
  using Signature =
      KernelSignature<const DenseTensor&, const DenseTensor&, bool, bool, DenseTensor*>;
  using Parameters = KernelParameters<"x", "y", "transpose_x", "transpose_y", "out">;
  static constexpr const char* kName = "matmul";
};
struct merged_momentum {
  using Signature =
      KernelSignature<std::span<const DenseTensor* const>, std::span<const DenseTensor* const>,
                      std::span<const DenseTensor* const>, std::span<const DenseTensor* const>,
                      float, std::span<DenseTensor* const>, std::span<DenseTensor* const>,
                      std::span<DenseTensor* const>>;
  using Parameters = KernelParameters<"param", "grad", "velocity", "master_param", "mu",
                                      "param_out", "velocity_out", "master_param_out">;
  static constexpr const char* kName = "merged_momentum";
};
struct momentum {
  using Signature =
      KernelSignature<const DenseTensor&, const DenseTensor&, const DenseTensor&,
                      const DenseTensor*, float, DenseTensor*, DenseTensor*, DenseTensor*>;
  using Parameters = KernelParameters<"param", "grad", "velocity", "master_param", "mu",
                                      "param_out", "velocity_out", "master_param_out">;
  static constexpr const char* kName = "momentum";
};
struct nonzero {
  using Signature = KernelSignature<const DenseTensor&, DenseTensor*>;
  using Parameters = KernelParameters<"condition", "out">;
  static constexpr const char* kName = "nonzero";
};
struct norm {
  using Signature =
      KernelSignature<const DenseTensor&, const DenseTensor*, float, DenseTensor*, DenseTensor*>;
  using Parameters = KernelParameters<"x", "scale", "epsilon", "out", "mean">;
  static constexpr const char* kName = "norm";
};
struct relu {
  using Signature = KernelSignature<const DenseTensor&, DenseTensor*>;
  using Parameters = KernelParameters<"x", "out">;
  static constexpr const char* kName = "relu";
};
struct reshape {
  using Signature = KernelSignature<const DenseTensor&, DenseTensor*>;
  using Parameters = KernelParameters<"x", "out">;
  static constexpr const char* kName = "reshape";
};
struct scale_all {
  using Signature =
      KernelSignature<std::span<const DenseTensor* const>, float, std::span<DenseTensor* const>>;
  using Parameters = KernelParameters<"xs", "factor", "out">;
  static constexpr const char* kName = "scale_all";
};
struct shape_of {
  using Signature = KernelSignature<const DenseTensor&, DenseTensor*>;
  using Parameters = KernelParameters<"x", "shape">;
  static constexpr const char* kName = "shape_of";
};
struct split {
  using Signature =
      KernelSignature<const DenseTensor&, const Scalar&, std::span<DenseTensor* const>>;
  using Parameters = KernelParameters<"x", "axis", "out">;
  static constexpr const char* kName = "split";
};

}  // namespace phi::kernels
