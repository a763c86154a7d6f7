// Avx512Version: versions of functors in AVX-512 instructions that g++ does not generate from
// loops, with the same bits as the functor.
#pragma once

#include <cstdint>

namespace phi {

template <typename T>
struct SqrtFunctor;

namespace detail {

/// run(x, out, n) computes F of n numbers, on machines where has_avx512(). `out` may be x. Most
/// functors have no Avx512Version.
template <typename F>
struct Avx512Version;

template <typename F>
concept HasAvx512Version = requires {
  sizeof(Avx512Version<F>);
};

#ifdef __x86_64__
template <typename T>
struct Avx512Version<SqrtFunctor<T>> {
  static void run(const T* x, T* out, int64_t n);
};
#endif

}  // namespace detail
}  // namespace phi
