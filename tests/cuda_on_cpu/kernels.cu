// See kernels.h.
#include <mma.h>

#include "cuda_on_cpu/kernels.h"

namespace cuda_on_cpu_test {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffffu;

struct Larger {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Op>
__device__ float over_warp(float value, Op op) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    value = op(value, __shfl_xor_sync(kAll, value, lanes));
  }
  return value;
}

template <class Op>
__device__ float over_block(float value, float neutral, Op op, float* shared) {
  value = over_warp(value, op);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if (lane == 0) shared[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = lane < static_cast<int>(blockDim.x) / kWarp ? shared[lane] : neutral;
  value = over_warp(value, op);
  __syncthreads();
  return value;
}

__global__ void __launch_bounds__(kThreads)
    softmax_kernel(const float* __restrict__ x, float* __restrict__ y, int width) {
  __shared__ float shared[kWarp];
  const float* row = x + static_cast<long>(blockIdx.x) * width;
  float* out = y + static_cast<long>(blockIdx.x) * width;
  const int first = static_cast<int>(threadIdx.x);
  float top = -INFINITY;
  for (int i = first; i < width; i += kThreads) top = Larger{}(top, row[i]);
  top = over_block(top, -INFINITY, Larger{}, shared);
  float sum = 0;
  for (int i = first; i < width; i += kThreads) sum += expf(row[i] - top);
  sum = over_block(sum, 0.0f, Sum{}, shared);
  for (int i = first; i < width; i += kThreads) out[i] = expf(row[i] - top) / sum;
}

__global__ void block_sums_kernel(const int* x, int n, int* sums) {
  __shared__ int parts[kThreads];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const unsigned self = threadIdx.x;
  parts[self] = i < n ? x[i] : 0;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (self < half) parts[self] += parts[self + half];
    __syncthreads();
  }
  if (self == 0) sums[blockIdx.x] = parts[0];
}

template <class T>
__global__ void product_kernel(const T* a, const T* b, float* c, int n, int k, float scale) {
  using namespace nvcuda;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  const long row = static_cast<long>(blockIdx.y) * 16;
  const long column = static_cast<long>(blockIdx.x) * 16;
  for (int step = 0; step < k; step += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::row_major> right;
    wmma::load_matrix_sync(left, a + row * k + step, k);
    wmma::load_matrix_sync(right, b + static_cast<long>(step) * n + column, n);
    wmma::mma_sync(sums, left, right, sums);
  }
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] *= scale;
  wmma::store_matrix_sync(c + row * n + column, sums, n, wmma::mem_row_major);
}

__global__ void copy_kernel(const float4* x, float4* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = __ldg(x + i);
}

__global__ void histogram_kernel(const unsigned* x, int n, unsigned* counts, unsigned* largest) {
  const int step = static_cast<int>(gridDim.x * blockDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += step) {
    atomicAdd(counts + x[i], 1);
    atomicMax(largest, x[i]);
  }
}

__global__ void votes_kernel(const int* x, int* out) {
  const int odd = x[threadIdx.x] & 1;
  int* mine = out + 4 * threadIdx.x;
  mine[0] = __syncthreads_count(odd);
  mine[1] = __syncthreads_or(odd);
  mine[2] = __syncthreads_and(odd);
  mine[3] = static_cast<int>(__ballot_sync(kAll, odd));
}

__global__ void shuffles_kernel(const double* x, double* y) {
  const double value = x[threadIdx.x];
  double* mine = y + 4 * threadIdx.x;
  mine[0] = __shfl_up_sync(kAll, value, 1);
  mine[1] = __shfl_down_sync(kAll, value, 1);
  mine[2] = __shfl_sync(kAll, value, 3, 8);
  mine[3] = __shfl_xor_sync(kAll, value, 31);
}

__global__ void numbers_kernel(int* y) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned number = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
  y[number] = static_cast<int>(number);
}

__global__ void arrivals_kernel(int* begun, int* when) {
  when[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(begun, 1);
}

cudaLaunchConfig_t on(cudaStream_t stream, dim3 grid, dim3 block) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  return config;
}

dim3 blocks_for(int n) { return dim3(static_cast<unsigned>((n + kThreads - 1) / kThreads)); }

}  // namespace

cudaError_t softmax_rows(cudaStream_t stream, const float* x, float* y, int rows, int width) {
  const auto config = on(stream, dim3(static_cast<unsigned>(rows)), dim3(kThreads));
  return cudaLaunchKernelEx(&config, softmax_kernel, x, y, width);
}

cudaError_t block_sums(cudaStream_t stream, const int* x, int n, int blocks, int* sums) {
  const auto config = on(stream, dim3(static_cast<unsigned>(blocks)), dim3(kThreads));
  return cudaLaunchKernelEx(&config, block_sums_kernel, x, n, sums);
}

template <class T>
cudaError_t product(cudaStream_t stream, const T* a, const T* b, float* c, int m, int n, int k,
                    float scale) {
  const dim3 grid(static_cast<unsigned>(n / 16), static_cast<unsigned>(m / 16));
  const auto config = on(stream, grid, dim3(kWarp));
  return cudaLaunchKernelEx(&config, product_kernel<T>, a, b, c, n, k, scale);
}
template cudaError_t product(cudaStream_t, const __half*, const __half*, float*, int, int, int,
                             float);
template cudaError_t product(cudaStream_t, const __nv_bfloat16*, const __nv_bfloat16*, float*, int,
                             int, int, float);

cudaError_t copy_by_16(cudaStream_t stream, const float* x, float* y, int n) {
  const auto config = on(stream, blocks_for(n / 4), dim3(kThreads));
  return cudaLaunchKernelEx(&config, copy_kernel, reinterpret_cast<const float4*>(x),
                            reinterpret_cast<float4*>(y), n / 4);
}

cudaError_t histogram(cudaStream_t stream, const unsigned* x, int n, unsigned* counts,
                      unsigned* largest) {
  const auto config = on(stream, dim3(4), dim3(kThreads));
  return cudaLaunchKernelEx(&config, histogram_kernel, x, n, counts, largest);
}

cudaError_t votes(cudaStream_t stream, const int* x, int threads, int* out) {
  const auto config = on(stream, dim3(1), dim3(static_cast<unsigned>(threads)));
  return cudaLaunchKernelEx(&config, votes_kernel, x, out);
}

cudaError_t shuffles(cudaStream_t stream, const double* x, double* y, int threads) {
  const auto config = on(stream, dim3(1), dim3(static_cast<unsigned>(threads)));
  return cudaLaunchKernelEx(&config, shuffles_kernel, x, y);
}

cudaError_t numbers(cudaStream_t stream, dim3 grid, dim3 block, int* y) {
  const auto config = on(stream, grid, block);
  return cudaLaunchKernelEx(&config, numbers_kernel, y);
}

cudaError_t arrivals(cudaStream_t stream, int* begun, int* when) {
  const auto config = on(stream, dim3(3), dim3(64));
  return cudaLaunchKernelEx(&config, arrivals_kernel, begun, when);
}

}  // namespace cuda_on_cpu_test
