// WideForm: versions of functors in AVX-512 instructions that g++ does not generate from loops,
// with the same bits as the functor.
#pragma once

#include <cstdint>

namespace phi {

template <typename T>
struct SqrtFunctor;

namespace detail {

/// run(x, out, n) computes F of n numbers, on machines where has_wide(). `out` may be x. Most
/// functors have no WideForm.
template <typename F>
struct WideForm;

template <typename F>
concept HasWideForm = requires {
  sizeof(WideForm<F>);
};

#ifdef __x86_64__
template <typename T>
struct WideForm<SqrtFunctor<T>> {
  static void run(const T* x, T* out, int64_t n);
};
#endif

}  // namespace detail
}  // namespace phi
