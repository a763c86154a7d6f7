// Kernels that have a bug each, which the emulator must find by itself, without sanitizers.
#pragma once

#include <cuda_runtime.h>

namespace cuda_on_cpu_test {

enum class Fault {
  kSkippedBarrier,    // some threads of the block end before it
  kSkippedByLanes,    // some lanes wait for their warp, others for the block
  kTwoBarriers,       // threads meet at different ones
  kTwoWarpFunctions,  // lanes of a warp meet in different functions
  kMaskWithoutSelf,   // a lane that its own mask does not name
  kOddWidth,          // a shuffle of width 12
  kHalfWarpOfTiles,   // wmma with 16 lanes
  kMisalignedTile,    // wmma at an address that is no multiple of 32 bytes
  kMisalignedMatrix,  // ldmatrix at an address that is no multiple of 16 bytes
  kTooMuchShared,     // 64 KiB of shared memory
};
cudaError_t faulty(cudaStream_t stream, Fault fault, float* x);

/// Adds up shared memory that nobody has written.
cudaError_t sum_of_nothing(cudaStream_t stream, float* sum);
/// Adds two neighbours of shared memory with no barrier after the write: right only in lockstep.
cudaError_t missing_barrier(cudaStream_t stream, const float* x, float* y);
/// One thread in blocks of this size and number; nothing else is wrong with it.
cudaError_t nothing(cudaStream_t stream, dim3 grid, dim3 block, size_t dynamic_shared = 0);
/// *y = *x.
cudaError_t copy_one(cudaStream_t stream, const float* x, float* y);

}  // namespace cuda_on_cpu_test
