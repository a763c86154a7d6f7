// WideForm: functors in instructions that AVX-512 alone has and that g++ makes of no loop, bit for
// bit what the functor itself gives.
#pragma once

#include <cstdint>

namespace phi {

template <typename T>
struct SqrtFunctor;

namespace detail {

/// F of n numbers: run(x, out, n), where out may be x; for machines that has_wide(). Most functors
/// have none.
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
