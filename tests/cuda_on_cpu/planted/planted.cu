// A program with bugs, one of which its argument chooses, compiled with sanitizers: each must be
// reported at the line that "BUG <its name>" marks. sanitizers_test.cc runs it.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int kThreads = 64;

__global__ void right(const float* x, float* y, int n) {
  __shared__ float values[kThreads];
  for (int round = 0; round < 3; ++round) {
    values[threadIdx.x] = x[threadIdx.x] + static_cast<float>(round);
    __syncthreads();
    y[threadIdx.x] = values[n - 1 - static_cast<int>(threadIdx.x)];
    __syncthreads();
  }
}

__global__ void out_of_bounds(const float* x, float* y, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i + 1 <= n) y[i] = x[i + 1];  // BUG out_of_bounds
}

__global__ void misaligned(const float* x, float* y, int /*n*/) {
  const float4* both = reinterpret_cast<const float4*>(x + 1);
  y[threadIdx.x] = both[0].x;  // BUG misaligned
}

__global__ void beyond_shared(const float* x, float* y, int n) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = values[static_cast<int>(threadIdx.x) + n / 2];  // BUG beyond_shared
}

__global__ void freed_early(const float* x, float* y, int /*n*/) {
  y[threadIdx.x] = x[threadIdx.x];  // BUG freed_early
}

__global__ void missing_barrier(const float* x, float* y, int n) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = values[n - 1 - static_cast<int>(threadIdx.x)];  // BUG missing_barrier
}

__global__ void missing_barrier_before_reuse(const float* x, float* y, int n) {
  __shared__ float values[kThreads];
  for (int round = 0; round < 3; ++round) {
    values[threadIdx.x] = x[threadIdx.x];  // BUG missing_barrier_before_reuse
    __syncthreads();
    y[threadIdx.x] = values[n - 1 - static_cast<int>(threadIdx.x)];
  }
}

__global__ void missing_syncwarp(const float* x, float* y, int /*n*/) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = x[threadIdx.x];
  const float mine = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);  // orders no memory
  y[threadIdx.x] = mine + values[threadIdx.x ^ 1];                     // BUG missing_syncwarp
}

__global__ void two_write(const float* x, float* y, int /*n*/) {
  y[threadIdx.x / 2] = x[threadIdx.x];  // BUG two_write
}

using Kernel = void (*)(const float*, float*, int);

struct Bug {
  std::string_view name;
  Kernel kernel;
};
constexpr Bug kBugs[] = {
    {"right", right},
    {"out_of_bounds", out_of_bounds},
    {"misaligned", misaligned},
    {"beyond_shared", beyond_shared},
    {"freed_early", freed_early},
    {"missing_barrier", missing_barrier},
    {"missing_barrier_before_reuse", missing_barrier_before_reuse},
    {"missing_syncwarp", missing_syncwarp},
    {"two_write", two_write},
    {"host_freed_early", right},
};

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(2);
}

void run(const Bug& bug) {
  constexpr size_t kBytes = kThreads * sizeof(float);
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  float* host;
  float* x;
  float* y;
  check(cudaMallocHost(&host, kBytes));
  for (int i = 0; i < kThreads; ++i) host[i] = static_cast<float>(i);
  check(cudaMallocAsync(&x, kBytes, stream));
  check(cudaMallocAsync(&y, kBytes, stream));
  check(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, stream));
  if (bug.name == "freed_early") check(cudaFreeAsync(x, stream));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(3);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, bug.kernel, x, y, kThreads));
  if (bug.name == "host_freed_early") check(cudaFreeHost(host));  // BUG host_freed_early
  check(cudaStreamSynchronize(stream));
  if (bug.name != "host_freed_early") check(cudaFreeHost(host));
}

}  // namespace

int main(int argc, char** argv) {
  for (const Bug& bug : kBugs) {
    if (argc < 2 || bug.name != argv[1]) continue;
    run(bug);
    std::puts("nothing found");
    return 0;
  }
  std::puts("no such bug");
  return 2;
}
