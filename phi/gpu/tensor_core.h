// What a warp does together on tensor cores, in the layouts that the PTX ISA documents ("Matrix
// fragments for mma.m16n8k16" and "ldmatrix"). In its words lane 4 g + t is of group g and thread
// t. All lanes take part. For GPUs these are instructions; what runs on the CPU has the functions
// of the same names of tests/support/cuda_on_cpu/tensor_core.cc.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace phi::gpu {

/// Two neighbouring 16-bit floats, the first in the lower half.
using Pair = uint32_t;

/// Four 8 x 8 matrices of 16-bit numbers in shared memory: lane 8 m + r names row r of matrix m, 16
/// bytes at a multiple of 16. A lane gets the elements (g, 2t) and (g, 2t + 1) of each matrix, or
/// of each one's transpose.
///
/// sums, of 16 x 8, get left, of 16 x 16, times right, of 16 x 8, added:
///   left   (g, 2t..), (g + 8, 2t..), (g, 2t + 8..), (g + 8, 2t + 8..)
///   right  (2t.., g), (2t + 8.., g)
///   sums   (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
#ifdef __CUDACC__
__device__ __forceinline__ void load_matrices(const void* row, Pair (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}
__device__ __forceinline__ void load_transposed_matrices(const void* row, Pair (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}
#define PHI_ADD_PRODUCT_(type)                                                    \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                      \
      ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"      \
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                \
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right_above), \
        "r"(right_below))
template <typename W>
__device__ __forceinline__ void add_product(const Pair (&left)[4], Pair right_above,
                                            Pair right_below, float (&sums)[4]) {
  static_assert(std::is_same_v<W, __half> || std::is_same_v<W, __nv_bfloat16>);
  if constexpr (std::is_same_v<W, __half>) {
    PHI_ADD_PRODUCT_("f16");
  } else {
    PHI_ADD_PRODUCT_("bf16");
  }
}
#undef PHI_ADD_PRODUCT_
#else
void load_matrices(const void* row, Pair (&to)[4], const char* file = __builtin_FILE(),
                   int line = __builtin_LINE());
void load_transposed_matrices(const void* row, Pair (&to)[4], const char* file = __builtin_FILE(),
                              int line = __builtin_LINE());
/// Of W: __half and __nv_bfloat16.
template <typename W>
void add_product(const Pair (&left)[4], Pair right_above, Pair right_below, float (&sums)[4],
                 const char* file = __builtin_FILE(), int line = __builtin_LINE());
#endif

/// Two floats, rounded to W.
template <typename W>
__device__ inline Pair pair_of(float first, float second) {
  Pair pair;
  if constexpr (std::is_same_v<W, __nv_bfloat16>) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
    std::memcpy(&pair, &both, sizeof(pair));
  } else {
    const __half2 both = __floats2half2_rn(first, second);
    std::memcpy(&pair, &both, sizeof(pair));
  }
  return pair;
}

}  // namespace phi::gpu
