// Properties of the emulated GPUs.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string>

#include "support/cuda_on_cpu/blocks.h"
#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/limits.h"
#include "support/cuda_on_cpu/settings.h"

using namespace cuda_on_cpu;

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call([&] {
    if (device < 0 || device >= settings().gpus) return cudaErrorInvalidDevice;
    cudaDeviceProp& p = *properties;
    p = {};
    fmt::format("CUDA on the CPU {}", device).copy(p.name, sizeof p.name - 1);
    p.uuid.bytes[0] = static_cast<char>(settings().physical[device] + 1);
    p.totalGlobalMem = settings().memory;
    p.sharedMemPerBlock = kSharedPerBlock;
    p.sharedMemPerBlockOptin = kSharedPerBlockOptin;
    p.sharedMemPerMultiprocessor = kSharedPerMultiprocessor;
    p.regsPerBlock = p.regsPerMultiprocessor = kRegisters;
    p.warpSize = kWarp;
    p.maxThreadsPerBlock = kMaxThreads;
    p.maxThreadsPerMultiProcessor = kMaxThreadsPerMultiprocessor;
    p.maxBlocksPerMultiProcessor = kMaxBlocksPerMultiprocessor;
    p.maxThreadsDim[0] = p.maxThreadsDim[1] = kMaxBlockXY;
    p.maxThreadsDim[2] = kMaxBlockZ;
    p.maxGridSize[0] = static_cast<int>(kMaxGridX);
    p.maxGridSize[1] = p.maxGridSize[2] = kMaxGridYZ;
    p.major = settings().capability / 10;
    p.minor = settings().capability % 10;
    p.multiProcessorCount = settings().multiprocessors;
    p.totalConstMem = size_t{64} << 10;
    p.l2CacheSize = 50 << 20;
    p.pciBusID = settings().physical[device] + 1;
    p.concurrentKernels = p.asyncEngineCount = 1;
    p.unifiedAddressing = p.canMapHostMemory = p.memoryPoolsSupported = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call([&] {
    cudaDeviceProp p;
    const cudaError_t found = cudaGetDeviceProperties(&p, device);
    if (found != cudaSuccess) return found;
    switch (attribute) {
      case cudaDevAttrMaxThreadsPerBlock:
        *value = p.maxThreadsPerBlock;
        break;
      case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = static_cast<int>(p.sharedMemPerBlock);
        break;
      case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = static_cast<int>(p.sharedMemPerBlockOptin);
        break;
      case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = static_cast<int>(p.sharedMemPerMultiprocessor);
        break;
      case cudaDevAttrMaxRegistersPerBlock:
        *value = p.regsPerBlock;
        break;
      case cudaDevAttrWarpSize:
        *value = p.warpSize;
        break;
      case cudaDevAttrMaxGridDimX:
        *value = p.maxGridSize[0];
        break;
      case cudaDevAttrMaxGridDimY:
      case cudaDevAttrMaxGridDimZ:
        *value = p.maxGridSize[1];
        break;
      case cudaDevAttrMultiProcessorCount:
        *value = p.multiProcessorCount;
        break;
      case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = p.maxThreadsPerMultiProcessor;
        break;
      case cudaDevAttrMaxBlocksPerMultiprocessor:
        *value = p.maxBlocksPerMultiProcessor;
        break;
      case cudaDevAttrComputeCapabilityMajor:
        *value = p.major;
        break;
      case cudaDevAttrComputeCapabilityMinor:
        *value = p.minor;
        break;
      case cudaDevAttrL2CacheSize:
        *value = p.l2CacheSize;
        break;
      case cudaDevAttrMemoryPoolsSupported:
      case cudaDevAttrUnifiedAddressing:
      case cudaDevAttrConcurrentKernels:
      case cudaDevAttrAsyncEngineCount:
        *value = 1;
        break;
      default:
        explain(fmt::format("device attribute {} is not supported by the emulator",
                            static_cast<int>(attribute)));
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}
