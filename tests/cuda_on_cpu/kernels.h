// Kernels that are right, launched on a stream; both compilers read their sources.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace cuda_on_cpu_test {

/// Shuffles, a shared array and four barriers per row.
cudaError_t softmax_rows(cudaStream_t stream, const float* x, float* y, int rows, int width);
/// The sum of each block's part of x, by halves in shared memory; threads with no part take part.
cudaError_t block_sums(cudaStream_t stream, const int* x, int n, int blocks, int* sums);
/// c = scale * a b by wmma, all row by row, of multiples of 16; one warp per tile of c.
template <class T>
cudaError_t product(cudaStream_t stream, const T* a, const T* b, float* c, int m, int n, int k,
                    float scale);
/// Copies 16 bytes at a time.
cudaError_t copy_by_16(cudaStream_t stream, const float* x, float* y, int n);
/// counts[v] += 1 for each v of x; *largest is at least each.
cudaError_t histogram(cudaStream_t stream, const unsigned* x, int n, unsigned* counts,
                      unsigned* largest);
/// For each thread of a block: how many threads' values are odd, whether any or all are, and which
/// lanes of its warp have one. `out` has four numbers per thread.
cudaError_t votes(cudaStream_t stream, const int* x, int threads, int* out);
/// y[i] = x[i] of the lane below, above, number 3 of a group of 8, and of the opposite lane.
cudaError_t shuffles(cudaStream_t stream, const double* x, double* y, int threads);
/// y[i] = thread number, counted over a grid and blocks of three dimensions.
cudaError_t numbers(cudaStream_t stream, dim3 grid, dim3 block, int* y);
/// when[i] = how many threads had begun before thread i of 3 blocks of 64; *begun is 0 before.
cudaError_t arrivals(cudaStream_t stream, int* begun, int* when);

}  // namespace cuda_on_cpu_test
