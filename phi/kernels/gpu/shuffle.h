// Warp shuffles for values of any small type. All lanes take part.
#pragma once

#include <cuda_runtime.h>

#include <cstring>
#include <type_traits>

#include "phi/common/host_device.h"

namespace phi::gpu {

inline constexpr int kWarp = 32;
inline constexpr unsigned kWholeWarp = ~0u;

struct ShuffleUp {  // the lane `by` below
  int by;
  template <typename Word>
  __device__ Word operator()(Word word) const {
    return __shfl_up_sync(kWholeWarp, word, static_cast<unsigned>(by));
  }
};

struct ShuffleDown {  // the lane `by` above
  int by;
  template <typename Word>
  __device__ Word operator()(Word word) const {
    return __shfl_down_sync(kWholeWarp, word, static_cast<unsigned>(by));
  }
};

struct ShuffleIdx {
  int lane;
  template <typename Word>
  __device__ Word operator()(Word word) const {
    return __shfl_sync(kWholeWarp, word, lane);
  }
};

/// The `value` of the lane that `from` selects, or the lane's own value if that lane does not
/// exist. CUDA shuffles 4 or 8 bytes, so narrower numbers are widened and structs are shuffled word
/// by word.
template <typename T, typename From>
__device__ T shuffle(const T& value, const From& from) {
  if constexpr (!std::is_arithmetic_v<T>) {
    constexpr int kWords = sizeof(T) / sizeof(unsigned);
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(unsigned) == 0);
    unsigned words[kWords];
    std::memcpy(words, &value, sizeof(T));
    PHI_UNROLL(16)
    for (int i = 0; i < kWords; ++i) words[i] = from(words[i]);
    T result;
    std::memcpy(&result, words, sizeof(T));
    return result;
  } else if constexpr (sizeof(T) < sizeof(int)) {
    return static_cast<T>(from(static_cast<int>(value)));
  } else {
    return from(value);
  }
}

}  // namespace phi::gpu
