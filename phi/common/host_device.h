// PHI_HD marks elementwise functions: they are inlined into CPU loops and callable from CUDA
// kernels.
#pragma once

#define PHI_PRAGMA_(text) _Pragma(#text)
#ifdef __CUDACC__
#define PHI_HD __host__ __device__ __forceinline__
/// Marks functions that are rarely called: out of line on the CPU. On a GPU they are inlined,
/// because a call would need a stack.
#define PHI_HD_RARE __host__ __device__ __forceinline__
/// Before a loop: its unroll factor.
#define PHI_UNROLL(times) PHI_PRAGMA_(unroll times)
#else
#define PHI_HD inline __attribute__((always_inline))
#define PHI_HD_RARE inline __attribute__((noinline, cold))
#define PHI_UNROLL(times) PHI_PRAGMA_(GCC unroll times)
#endif
