// The emulated GPUs of the process, and what every call of the runtime does first and last.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "support/cuda_on_cpu/arena.h"
#include "support/cuda_on_cpu/failure.h"

/// A pool of memory. What it holds (`reserved`) and what is in use of that.
struct CUmemPoolHandle_st {
  int device = 0;
  size_t used = 0;
  size_t used_high = 0;
  size_t reserved = 0;
  size_t reserved_high = 0;
  uint64_t threshold = 0;  // bytes to keep when a waiter comes by
  size_t limit = 0;        // 0: that of the GPU
  int reuse[3] = {1, 1, 1};
  bool destroyed = false;
};

namespace cuda_on_cpu {

struct Gpu {
  int index = 0;
  Arena arena;
  std::atomic<cudaError_t> sticky{cudaSuccess};
  std::mutex mutex;         // for what follows
  size_t plain = 0;         // bytes of cudaMalloc
  size_t pooled = 0;        // bytes that pools hold
  CUmemPoolHandle_st pool;  // the default one
};

/// The GPU with this number, made when it is first asked for.
Gpu& gpu(int index);
/// The GPU whose memory `address` lies in, or null.
Gpu* gpu_of(const void* address);
/// Forgets what went wrong on GPUs.
void forget_failures();

/// Of the calling thread.
int current_device();
void set_current_device(int device);
/// cudaSuccess if a driver and a GPU answer and nothing has failed on the current one for good.
cudaError_t state_of_runtime();
/// Keeps an error for cudaGetLastError, and gives it back.
cudaError_t noted(cudaError_t error);

/// A call of the runtime: nothing is done where no GPU works.
template <class Body>
cudaError_t call(Body body) {
  const cudaError_t state = state_of_runtime();
  return noted(state != cudaSuccess ? state : std::forward<Body>(body)());
}

}  // namespace cuda_on_cpu
