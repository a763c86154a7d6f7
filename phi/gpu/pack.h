// Packs: contiguous elements that one memory access loads or stores.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace phi::gpu {

template <typename T, int kWidth>
struct alignas(kWidth * sizeof(T)) Pack {
  T element[kWidth];
};

/// Number of elements of `size` bytes in an access of 16 bytes, the widest on sm_80 and sm_90; at
/// least 1.
constexpr int pack_width(size_t size) {
  constexpr size_t kAccess = 16;
  return size < kAccess ? static_cast<int>(kAccess / size) : 1;
}

/// Whether all arrays are aligned to a pack. A null pointer counts as aligned.
template <int kWidth, typename... T>
bool are_pack_aligned(const T*... arrays) {
  return (... && (reinterpret_cast<uintptr_t>(arrays) % (kWidth * sizeof(T)) == 0));
}

/// Pack i of `array`, by value: nvcc loads a reference element by element.
template <int kWidth, typename T>
__device__ Pack<T, kWidth> pack_at(const T* array, int64_t i) {
  return reinterpret_cast<const Pack<T, kWidth>*>(array)[i];
}

template <int kWidth, typename T>
__device__ void put_pack(T* array, int64_t i, const Pack<T, kWidth>& pack) {
  reinterpret_cast<Pack<T, kWidth>*>(array)[i] = pack;
}

}  // namespace phi::gpu
