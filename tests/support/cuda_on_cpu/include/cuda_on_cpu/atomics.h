// Atomic functions on integers. There are none on floats: their sums would depend on the order of
// threads, and results must repeat.
#pragma once

#include <type_traits>

namespace cuda_on_cpu {

template <class T>
concept AtomicInteger =
    std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, unsigned long long>;
/// Types of atomicMax and atomicMin, which also accept signed 64-bit integers.
template <class T>
concept OrderedInteger = AtomicInteger<T> || std::is_same_v<T, long long>;

/// Stores change(old) and returns the old value.
template <class T, class Change>
T exchange(T* at, Change change) {
  T old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(at, &old, change(old), false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
  return old;
}

}  // namespace cuda_on_cpu

template <cuda_on_cpu::AtomicInteger T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}
template <cuda_on_cpu::AtomicInteger T>
T atomicOr(T* at, std::type_identity_t<T> value) {
  return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}
template <cuda_on_cpu::AtomicInteger T>
T atomicAnd(T* at, std::type_identity_t<T> value) {
  return __atomic_fetch_and(at, value, __ATOMIC_RELAXED);
}
template <cuda_on_cpu::AtomicInteger T>
T atomicExch(T* at, std::type_identity_t<T> value) {
  return __atomic_exchange_n(at, value, __ATOMIC_RELAXED);
}
template <cuda_on_cpu::AtomicInteger T>
T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
template <cuda_on_cpu::OrderedInteger T>
T atomicMax(T* at, std::type_identity_t<T> value) {
  return cuda_on_cpu::exchange(at, [value](T old) { return old < value ? value : old; });
}
template <cuda_on_cpu::OrderedInteger T>
T atomicMin(T* at, std::type_identity_t<T> value) {
  return cuda_on_cpu::exchange(at, [value](T old) { return value < old ? value : old; });
}
