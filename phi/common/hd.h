// PHI_HD marks functions of one element: inlined into CPU loops, callable from CUDA kernels.
#pragma once

#define PHI_PRAGMA_(text) _Pragma(#text)
#ifdef __CUDACC__
#define PHI_HD __host__ __device__ __forceinline__
/// What is hardly ever called; a GPU's kernels keep no stack for it.
#define PHI_HD_RARE __host__ __device__ __forceinline__
/// Before a loop: how often it is unrolled.
#define PHI_UNROLL(times) PHI_PRAGMA_(unroll times)
#else
#define PHI_HD inline __attribute__((always_inline))
#define PHI_HD_RARE inline __attribute__((noinline, cold))
#define PHI_UNROLL(times) PHI_PRAGMA_(GCC unroll times)
#endif
