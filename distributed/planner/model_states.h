// Memory and communication of the model states (parameters, gradients, optimizer) under ZeRO.
//
//   model_state_bytes(7.5e9, ZeroStage::kGradients, 64);   // 16.6e9 bytes per rank
//
// Source: Rajbhandari et al. 2019, "ZeRO: memory optimizations toward training trillion parameter
// models", figure 1 and sections 5 and 7.
#pragma once

#include <cstdint>

namespace phi::distributed {

/// What the data-parallel ranks split among themselves; each stage includes those before it.
enum class ZeroStage : uint8_t { kNone, kOptimizer, kGradients, kParameters };

/// Bytes per parameter; those of mixed-precision Adam: 16-bit parameters and gradients, and a
/// float32 copy, momentum and variance for the optimizer.
struct StateBytes {
  double parameter = 2;
  double gradient = 2;
  double optimizer = 12;
};

/// Bytes on each of `ranks` data-parallel ranks.
/// Errors: InvalidArgument for parameters < 0 or ranks < 1.
double model_state_bytes(double parameters, ZeroStage stage, int64_t ranks,
                         const StateBytes& bytes = {});

/// Elements that each rank sends in a step, for many ranks (exactly (ranks - 1) / ranks of it): the
/// reduce-scatter and all-gather of gradients or parameters, and with split parameters one
/// all-gather more.
double communicated_elements(double parameters, ZeroStage stage);

}  // namespace phi::distributed
