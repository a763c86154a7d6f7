// Selects the GPU of this rank and how ranks exchange messages between GPUs.
#pragma once

#include <cstdint>
#include <string_view>

#include "distributed/comm/gpu_reduction.h"
#include "phi/common/place.h"

namespace phi::distributed {

/// How messages travel between the ranks' GPUs: directly by NCCL, or through host memory, as
/// between CPUs.
enum class GpuMessages : uint8_t { kNccl, kHost };

/// Parse "nccl" or "host", and "exact" or "fast". Errors: InvalidArgument for any other word.
GpuMessages parse_gpu_messages(std::string_view word);
GpuReduction parse_gpu_reduction(std::string_view word);

struct GpuOptions {
  /// Lets float32 matmuls round their operands to TF32 (10 mantissa bits instead of 23). Sums stay
  /// float32, and matmuls of other dtypes do not change.
  bool tf32 = false;
  GpuMessages messages = GpuMessages::kNccl;
  /// For NCCL's reductions; see distributed/comm/gpu_reduction.h.
  GpuReduction reduction = GpuReduction::kExact;
};

/// Makes a GPU this rank's default device and returns its place. The GPU's index is the rank's
/// index on its machine, modulo the number of GPUs that CUDA shows to the process.
///
/// Ranks    Collective. Call it after init and before the first tensor, with the same options on
///          all ranks.
/// Errors   Unavailable if there is no driver, if the driver is too old, if the build has no GPU
///          code, or if it has none for this GPU. The errors of make_device_communicator;
///          PreconditionNotMet if two of its ranks share a GPU. With kHost ranks may share a GPU,
///          and rank 0 prints which ones do.
Place use_gpu(const GpuOptions& options = {});

}  // namespace phi::distributed
