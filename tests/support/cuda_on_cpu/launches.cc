// Kernel launches: limits of CUDA, injected failures, and queries about kernels.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "cuda_on_cpu/launch.h"
#include "support/cuda_on_cpu/arguments.h"
#include "support/cuda_on_cpu/blocks.h"
#include "support/cuda_on_cpu/capture.h"
#include "support/cuda_on_cpu/code.h"
#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/limits.h"
#include "support/cuda_on_cpu/memory.h"
#include "support/cuda_on_cpu/ran.h"
#include "support/cuda_on_cpu/settings.h"
#include "support/cuda_on_cpu/streams.h"
#include "support/cuda_on_cpu/symbols.h"

namespace cuda_on_cpu {
namespace {

cudaError_t check_size(const cudaLaunchConfig_t& config, const void* kernel) {
  const auto& [x, y, z] = config.gridDim;
  const dim3& block = config.blockDim;
  const char* wrong = nullptr;
  if (x == 0 || y == 0 || z == 0 || block.x == 0 || block.y == 0 || block.z == 0) {
    wrong = "a dimension is 0";
  } else if (x > kMaxGridX || y > kMaxGridYZ || z > kMaxGridYZ) {
    wrong = "the grid is larger than (2147483647, 65535, 65535)";
  } else if (block.x > kMaxBlockXY || block.y > kMaxBlockXY || block.z > kMaxBlockZ) {
    wrong = "the block is larger than (1024, 1024, 64)";
  } else if (uint64_t{block.x} * block.y * block.z > kMaxThreads) {
    wrong = "the block has more than 1024 threads";
  }
  if (wrong == nullptr) return cudaSuccess;
  explain(fmt::format("kernel {} with grid ({}, {}, {}) and block ({}, {}, {}): {}",
                      function_name(kernel), x, y, z, block.x, block.y, block.z, wrong));
  return cudaErrorInvalidConfiguration;
}

cudaError_t check_supported(const cudaLaunchConfig_t& config, const void* kernel) {
  if (config.dynamicSmemBytes == 0 && config.numAttrs == 0) return cudaSuccess;
  explain(
      fmt::format("kernel {}: the emulator has no dynamic shared memory and no launch attributes",
                  function_name(kernel)));
  return cudaErrorInvalidConfiguration;
}

// Fails for too much shared memory, which ptxas rejects but g++ does not.
void check_shared(const void* kernel) {
  size_t bytes = 0;
  for (const SharedArray& array : shared_arrays(kernel)) bytes += array.size;
  if (bytes <= kSharedPerBlock) return;
  fail(fmt::format("kernel {} has {} bytes of shared memory; {} is the most", function_name(kernel),
                   bytes, kSharedPerBlock));
}

void check_pointers(const void* kernel, std::span<const Argument> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_pointer) continue;
    const void* const pointer = *static_cast<const void* const*>(arguments[i].address);
    if (pointer == nullptr || gpu_of(pointer) != nullptr || is_pinned(pointer)) continue;
    fail(fmt::format("argument {} of kernel {} points to pageable memory of the host", i + 1,
                     function_name(kernel)));
  }
}

void run_launch(Gpu& device, const Grid& grid) {
  const auto planted = static_cast<cudaError_t>(settings().planted.exchange(cudaSuccess));
  if (planted != cudaSuccess) device.sticky = planted;
  if (device.sticky != cudaSuccess) return;  // nothing runs on a failed GPU
  note_run(grid.kernel);
  run_grid(grid);
  ++settings().launches;
}

}  // namespace

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel, Call call_kernel,
                   std::span<const Argument> given) {
  check_pointers(kernel, given);
  return call([&] {
    const cudaError_t found = check_stream(config.stream);
    if (found != cudaSuccess) return found;
    if (config.stream->device != current_device()) return cudaErrorInvalidResourceHandle;
    if (!settings().code_fits) return cudaErrorNoKernelImageForDevice;
    const cudaError_t sized = check_size(config, kernel);
    if (sized != cudaSuccess) return sized;
    const cudaError_t supported = check_supported(config, kernel);
    if (supported != cudaSuccess) return supported;
    check_shared(kernel);
    Gpu& device = gpu(config.stream->device);
    Code code = code_of(kernel, call_kernel, std::make_shared<const Arguments>(given));
    return enqueue(config.stream,
                   {.name = "kernel " + function_name(kernel),
                    .run =
                        [&device, kernel, blocks = config.gridDim, threads = config.blockDim,
                         code = std::move(code)] {
                          run_launch(device, {kernel, blocks, threads, &code.thread, code.shared});
                        },
                    .devices = {device.index}});
  });
}

}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return call([&] {
    *attributes = {};
    if (!settings().code_fits) return cudaErrorNoKernelImageForDevice;
    for (const SharedArray& array : shared_arrays(kernel)) {
      attributes->sharedSizeBytes += array.size;
    }
    attributes->maxThreadsPerBlock = kMaxThreads;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = settings().capability;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* /*kernel*/, cudaFuncAttribute attribute, int value) {
  return call([&] {
    // More than the default is always dynamic shared memory, which is not supported.
    const bool dynamic = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value > 0;
    return dynamic ? cudaErrorInvalidValue : cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* /*kernel*/,
                                                          int block_size, size_t /*dynamic*/) {
  return call([&] {
    if (block_size < 1 || block_size > kMaxThreads) return cudaErrorInvalidValue;
    *blocks = std::min(kMaxThreadsPerMultiprocessor / block_size, kMaxBlocksPerMultiprocessor);
    return cudaSuccess;
  });
}
