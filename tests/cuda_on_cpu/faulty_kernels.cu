// See faulty_kernels.h.
#include <mma.h>

#include "cuda_on_cpu/faulty_kernels.h"
#include "phi/gpu/tensor_core.h"

namespace cuda_on_cpu_test {
namespace {

constexpr unsigned kAll = 0xffffffffu;
constexpr int kThreads = 64;
constexpr int kMuch = 16 * 1024;

__global__ void skipped_barrier(float* x) {
  if (threadIdx.x >= 40) return;
  __syncthreads();
  x[threadIdx.x] = 1;
}

__global__ void skipped_by_lanes(float* x) {
  if (threadIdx.x < 16) {
    __syncwarp();
  } else {
    __syncthreads();
  }
  x[threadIdx.x] = 1;
}

__global__ void two_barriers(float* x) {
  if (threadIdx.x < 32) {
    __syncthreads();
    x[threadIdx.x] = 1;
  } else {
    __syncthreads();
    x[threadIdx.x] = 2;
  }
}

__global__ void two_warp_functions(float* x) {
  if (threadIdx.x % 2 == 0) {
    x[threadIdx.x] = __shfl_xor_sync(kAll, x[threadIdx.x], 1);
  } else {
    __syncwarp();
  }
}

__global__ void mask_without_self(float* x) {
  x[threadIdx.x] = __shfl_xor_sync(0xffffu, x[threadIdx.x], 1);
}

__global__ void odd_width(float* x) {
  x[threadIdx.x] = __shfl_down_sync(kAll, x[threadIdx.x], 1, 12);
}

__global__ void half_warp_of_tiles(float* x) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(a, __half(1.0f));
  wmma::fill_fragment(b, __half(1.0f));
  wmma::fill_fragment(sums, 0.0f);
  if (threadIdx.x % 32 >= 16) return;
  wmma::mma_sync(sums, a, b, sums);
  x[threadIdx.x] = sums.x[0];
}

__global__ void misaligned_tile(float* x) {
  using namespace nvcuda;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  wmma::store_matrix_sync(x + 1, sums, 16, wmma::mem_row_major);
}

__global__ void misaligned_matrix(float* x) {
  __shared__ float4 rows[kThreads];
  phi::gpu::HalfPair to[4];
  phi::gpu::load_matrices(&rows[threadIdx.x % 32].y, to);
  x[threadIdx.x] = static_cast<float>(to[0]);
}

__global__ void too_much_shared(float* x) {
  __shared__ float much[kMuch];
  much[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = much[kThreads - 1 - threadIdx.x];
}

__global__ void sum_of_nothing_kernel(float* sum) {
  __shared__ float values[kThreads];
  if (blockIdx.x == 1) values[threadIdx.x] = 1;  // the second block's values are not the others'
  __syncthreads();
  if (threadIdx.x == 0) sum[blockIdx.x] = values[0] + values[kThreads - 1];
}

__global__ void missing_barrier_kernel(const float* x, float* y) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = values[threadIdx.x] + values[(threadIdx.x + 32) % kThreads];
}

__global__ void nothing_kernel() {}

__global__ void copy_one_kernel(const float* x, float* y) { *y = *x; }

using Kernel = void (*)(float*);

Kernel kernel_of(Fault fault) {
  switch (fault) {
    case Fault::kSkippedBarrier:
      return skipped_barrier;
    case Fault::kSkippedByLanes:
      return skipped_by_lanes;
    case Fault::kTwoBarriers:
      return two_barriers;
    case Fault::kTwoWarpFunctions:
      return two_warp_functions;
    case Fault::kMaskWithoutSelf:
      return mask_without_self;
    case Fault::kOddWidth:
      return odd_width;
    case Fault::kHalfWarpOfTiles:
      return half_warp_of_tiles;
    case Fault::kMisalignedTile:
      return misaligned_tile;
    case Fault::kMisalignedMatrix:
      return misaligned_matrix;
    case Fault::kTooMuchShared:
      return too_much_shared;
  }
  return nullptr;
}

cudaLaunchConfig_t on(cudaStream_t stream, dim3 grid, dim3 block) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  return config;
}

}  // namespace

cudaError_t faulty(cudaStream_t stream, Fault fault, float* x) {
  const auto config = on(stream, dim3(1), dim3(kThreads));
  return cudaLaunchKernelEx(&config, kernel_of(fault), x);
}

cudaError_t sum_of_nothing(cudaStream_t stream, float* sum) {
  const auto config = on(stream, dim3(3), dim3(kThreads));
  return cudaLaunchKernelEx(&config, sum_of_nothing_kernel, sum);
}

cudaError_t missing_barrier(cudaStream_t stream, const float* x, float* y) {
  const auto config = on(stream, dim3(1), dim3(kThreads));
  return cudaLaunchKernelEx(&config, missing_barrier_kernel, x, y);
}

cudaError_t nothing(cudaStream_t stream, dim3 grid, dim3 block, size_t dynamic_shared) {
  auto config = on(stream, grid, block);
  config.dynamicSmemBytes = dynamic_shared;
  return cudaLaunchKernelEx(&config, nothing_kernel);
}

cudaError_t copy_one(cudaStream_t stream, const float* x, float* y) {
  const auto config = on(stream, dim3(1), dim3(1));
  return cudaLaunchKernelEx(&config, copy_one_kernel, x, y);
}

}  // namespace cuda_on_cpu_test
