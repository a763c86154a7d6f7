// A stream of the current emulated GPU for one test, and arrays there.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/cuda_on_cpu/cuda_on_cpu.h"

#define EXPECT_CUDA(wanted, call) EXPECT_STREQ(cudaGetErrorName(wanted), cudaGetErrorName(call))
#define EXPECT_WORKS(call) EXPECT_CUDA(cudaSuccess, call)

namespace cuda_on_cpu_test {

/// Settings are the environment's again when it ends, unless it is told otherwise.
class Session {
 public:
  Session() { EXPECT_WORKS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  ~Session() {
    for (void* memory : memory_) cudaFreeAsync(memory, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    if (resets) cuda_on_cpu::reset();
  }
  Session(const Session&) = delete;

  template <class T>
  T* allocate(size_t n) {
    void* memory = nullptr;
    EXPECT_WORKS(cudaMallocAsync(&memory, n * sizeof(T), stream));
    memory_.push_back(memory);
    return static_cast<T*>(memory);
  }
  template <class T>
  T* upload(const std::vector<T>& values) {
    T* memory = allocate<T>(values.size());
    EXPECT_WORKS(cudaMemcpyAsync(memory, values.data(), values.size() * sizeof(T),
                                 cudaMemcpyHostToDevice, stream));
    return memory;
  }
  template <class T>
  std::vector<T> download(const T* memory, size_t n) {
    std::vector<T> values(n);
    EXPECT_WORKS(
        cudaMemcpyAsync(values.data(), memory, n * sizeof(T), cudaMemcpyDeviceToHost, stream));
    EXPECT_WORKS(cudaStreamSynchronize(stream));
    return values;
  }

  cudaStream_t stream = nullptr;
  bool resets = true;  // false where others' threads still need what is set

 private:
  std::vector<void*> memory_;
};

/// Numbers that look random, the same in each run, in [-1, 1).
inline std::vector<float> some_floats(size_t n) {
  std::vector<float> values(n);
  uint32_t state = 12345;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / (1 << 23) - 1.0f;
  }
  return values;
}

}  // namespace cuda_on_cpu_test
