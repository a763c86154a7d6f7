// Warp-wide tensor core operations: matrix loads and multiply-accumulate, with the fragment layouts
// of the PTX ISA ("Matrix fragments for mma.m16n8k16" and "ldmatrix"). In its notation lane 4 g + t
// belongs to group g and is thread t. All lanes of the warp take part. On GPUs these functions are
// instructions; the CUDA emulator implements them in tests/support/cuda_on_cpu/tensor_core.cc.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace phi::gpu {

/// Two adjacent half-precision elements, the first in the lower half.
using HalfPair = uint32_t;

/// load_matrices loads four 8 x 8 half-precision matrices from shared memory. Lane 8 m + r passes
/// the address of row r of matrix m: 16 bytes, aligned to 16. A lane receives the elements (g, 2t)
/// and (g, 2t + 1) of each matrix; load_transposed_matrices returns those of the transposes.
///
/// multiply_accumulate computes sums += left * right for left [16, 16], right [16, 8] and sums [16,
/// 8]. A lane holds these elements:
///   left   (g, 2t..), (g + 8, 2t..), (g, 2t + 8..), (g + 8, 2t + 8..)
///   right  (2t.., g), (2t + 8.., g)
///   sums   (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
#ifdef __CUDACC__
__device__ __forceinline__ void load_matrices(const void* row, HalfPair (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
               : "memory");
}
__device__ __forceinline__ void load_transposed_matrices(const void* row, HalfPair (&to)[4]) {
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
__device__ __forceinline__ void multiply_accumulate(const HalfPair (&left)[4], HalfPair right_above,
                                                    HalfPair right_below, float (&sums)[4]) {
  static_assert(std::is_same_v<W, __half> || std::is_same_v<W, __nv_bfloat16>);
  if constexpr (std::is_same_v<W, __half>) {
    PHI_ADD_PRODUCT_("f16");
  } else {
    PHI_ADD_PRODUCT_("bf16");
  }
}
#undef PHI_ADD_PRODUCT_
#else
void load_matrices(const void* row, HalfPair (&to)[4], const char* file = __builtin_FILE(),
                   int line = __builtin_LINE());
void load_transposed_matrices(const void* row, HalfPair (&to)[4],
                              const char* file = __builtin_FILE(), int line = __builtin_LINE());
/// Instantiated for __half and __nv_bfloat16.
template <typename W>
void multiply_accumulate(const HalfPair (&left)[4], HalfPair right_above, HalfPair right_below,
                         float (&sums)[4], const char* file = __builtin_FILE(),
                         int line = __builtin_LINE());
#endif

/// Rounds two floats to W and packs them.
template <typename W>
__device__ inline HalfPair pair_of(float first, float second) {
  HalfPair pair;
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
