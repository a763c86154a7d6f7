// The emulated GPUs of the process, and the prologue and epilogue of every runtime call.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "support/cuda_on_cpu/arena.h"
#include "support/cuda_on_cpu/failure.h"

/// A memory pool: bytes that it has reserved, and bytes of them in use.
struct CUmemPoolHandle_st {
  int device = 0;
  size_t used = 0;
  size_t used_high = 0;
  size_t reserved = 0;
  size_t reserved_high = 0;
  uint64_t threshold = 0;  // bytes to keep when a synchronisation trims the pool
  size_t limit = 0;        // 0: the GPU's limit
  int reuse[3] = {1, 1, 1};
  bool destroyed = false;

  // Bytes of frees that are queued on a stream. A later allocation on the stream takes their memory
  // before they run.
  struct QueuedFrees {
    size_t untaken = 0;
    size_t taken = 0;
  };
  std::map<cudaStream_t, QueuedFrees> queued_frees{};
};

namespace cuda_on_cpu {

struct Gpu {
  int index = 0;
  Arena arena;
  std::atomic<cudaError_t> sticky{cudaSuccess};
  std::mutex mutex;         // guards the members below
  size_t plain = 0;         // bytes allocated by cudaMalloc
  size_t pooled = 0;        // bytes reserved by pools
  CUmemPoolHandle_st pool;  // default pool
};

/// The GPU with this number; created at first use.
Gpu& gpu(int index);
/// The GPU whose memory contains `address`, or null.
Gpu* gpu_of(const void* address);
/// Clears the failures of all GPUs.
void forget_failures();

/// The current device of the calling thread.
int current_device();
void set_current_device(int device);
/// cudaSuccess if there is a driver and a GPU and the current GPU has no sticky error; else the
/// error.
cudaError_t state_of_runtime();
/// Stores an error for cudaGetLastError and returns it.
cudaError_t noted(cudaError_t error);

/// Runs a runtime call. Does nothing but return the error if no GPU works.
template <class Body>
cudaError_t call(Body body) {
  const cudaError_t state = state_of_runtime();
  return noted(state != cudaSuccess ? state : std::forward<Body>(body)());
}

}  // namespace cuda_on_cpu
