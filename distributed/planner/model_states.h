// Memory and communication of model states (parameters, gradients, optimizer) under ZeRO.
//
//   model_state_bytes(7.5e9, ZeroStage::kGradients, 64);   // 16.6e9 bytes per rank
//
// Source: Rajbhandari et al. 2019, "ZeRO: memory optimizations toward training trillion parameter
// models", figure 1 and sections 5 and 7.
#pragma once

#include <cstdint>

namespace phi::distributed {

/// The states that data-parallel ranks shard; each stage includes the previous ones.
enum class ZeroStage : uint8_t { kNone, kOptimizer, kGradients, kParameters };

/// Bytes per parameter. The defaults are those of mixed-precision Adam: half-precision parameters
/// and gradients, and a float32 copy, momentum and variance for the optimizer.
struct StateBytes {
  double parameter = 2;
  double gradient = 2;
  double optimizer = 12;
};

/// Bytes on each of `ranks` data-parallel ranks. Errors: InvalidArgument for parameters < 0 or
/// ranks < 1.
double model_state_bytes(double parameters, ZeroStage stage, int64_t ranks,
                         const StateBytes& bytes = {});

/// Elements that each rank sends in a step, for many ranks (the exact value is (ranks - 1) / ranks
/// of it): a reduce-scatter and an all-gather of gradients or parameters, and another all-gather
/// with sharded parameters.
double communicated_elements(double parameters, ZeroStage stage);

}  // namespace phi::distributed
