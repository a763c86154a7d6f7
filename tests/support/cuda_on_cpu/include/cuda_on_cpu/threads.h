// Built-in variables, barriers, shuffles and votes. Each call passes its source line, which error
// messages name.
#pragma once

#include <vector_types.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

// The indices of the running CUDA thread; one runs at a time in the process.
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;
inline constexpr int warpSize = 32;

namespace cuda_on_cpu {

/// A source line of a kernel.
struct Site {
  const char* file;
  int line;
};

/// How a block barrier combines the predicates of its threads.
enum class Vote { kNone, kOr, kAnd, kCount };
int block_barrier(Vote vote, int predicate, const Site& site);

/// The warp-wide operations.
enum class Exchange { kSync, kShuffle, kUp, kDown, kXor, kBallot, kAny, kAll, kTiles };
/// Waits for all lanes of `mask` that have not ended and returns this lane's result.
uint64_t warp_exchange(Exchange kind, unsigned mask, uint64_t value, int operand, int width,
                       const Site& site);

void memory_fence();

template <class T>
concept Shuffled = std::is_trivially_copyable_v<T> &&
    (std::is_class_v<T> ? sizeof(T) <= 4 : sizeof(T) == 4 || sizeof(T) == 8);

template <Shuffled T>
T shuffle(Exchange kind, unsigned mask, T value, int operand, int width, const Site& site) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = warp_exchange(kind, mask, bits, operand, width, site);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace cuda_on_cpu

#define CUDA_ON_CPU_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(CUDA_ON_CPU_SITE) {
  cuda_on_cpu::block_barrier(cuda_on_cpu::Vote::kNone, 0, {file, line});
}
inline int __syncthreads_or(int predicate, CUDA_ON_CPU_SITE) {
  return cuda_on_cpu::block_barrier(cuda_on_cpu::Vote::kOr, predicate, {file, line});
}
inline int __syncthreads_and(int predicate, CUDA_ON_CPU_SITE) {
  return cuda_on_cpu::block_barrier(cuda_on_cpu::Vote::kAnd, predicate, {file, line});
}
inline int __syncthreads_count(int predicate, CUDA_ON_CPU_SITE) {
  return cuda_on_cpu::block_barrier(cuda_on_cpu::Vote::kCount, predicate, {file, line});
}

inline void __syncwarp(unsigned mask = ~0u, CUDA_ON_CPU_SITE) {
  cuda_on_cpu::warp_exchange(cuda_on_cpu::Exchange::kSync, mask, 0, 0, 32, {file, line});
}
inline unsigned __ballot_sync(unsigned mask, int predicate, CUDA_ON_CPU_SITE) {
  return static_cast<unsigned>(cuda_on_cpu::warp_exchange(cuda_on_cpu::Exchange::kBallot, mask,
                                                          predicate != 0, 0, 32, {file, line}));
}
inline int __any_sync(unsigned mask, int predicate, CUDA_ON_CPU_SITE) {
  return static_cast<int>(cuda_on_cpu::warp_exchange(cuda_on_cpu::Exchange::kAny, mask,
                                                     predicate != 0, 0, 32, {file, line}));
}
inline int __all_sync(unsigned mask, int predicate, CUDA_ON_CPU_SITE) {
  return static_cast<int>(cuda_on_cpu::warp_exchange(cuda_on_cpu::Exchange::kAll, mask,
                                                     predicate != 0, 0, 32, {file, line}));
}

template <cuda_on_cpu::Shuffled T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, CUDA_ON_CPU_SITE) {
  return cuda_on_cpu::shuffle(cuda_on_cpu::Exchange::kShuffle, mask, value, lane, width,
                              {file, line});
}
template <cuda_on_cpu::Shuffled T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_ON_CPU_SITE) {
  return cuda_on_cpu::shuffle(cuda_on_cpu::Exchange::kUp, mask, value, static_cast<int>(delta),
                              width, {file, line});
}
template <cuda_on_cpu::Shuffled T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, CUDA_ON_CPU_SITE) {
  return cuda_on_cpu::shuffle(cuda_on_cpu::Exchange::kDown, mask, value, static_cast<int>(delta),
                              width, {file, line});
}
template <cuda_on_cpu::Shuffled T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, CUDA_ON_CPU_SITE) {
  return cuda_on_cpu::shuffle(cuda_on_cpu::Exchange::kXor, mask, value, lanes, width, {file, line});
}

#undef CUDA_ON_CPU_SITE

// A fence orders the writes of one thread. Blocks run one after another here, so it does nothing.
inline void __threadfence() { cuda_on_cpu::memory_fence(); }
inline void __threadfence_block() { cuda_on_cpu::memory_fence(); }
inline void __threadfence_system() { cuda_on_cpu::memory_fence(); }
