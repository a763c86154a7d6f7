// Hot loops in registers twice as wide as those of the rest of the program, where the machine has
// AVX-512, which the build (x86-64-v3 by default) does not assume.
//
//   run_widest<float>([=] {
//     for (int64_t i = 0; i < n; ++i) out[i] = f(x[i]);
//   });
#pragma once

#include <type_traits>

namespace phi {

/// Instructions of loops, each with those before it; results are the same, bit for bit.
enum class LoopIsa { kBase, kAvx512, kAvx512Bf16 };

/// The machine's best, or an earlier one that the environment variable AUTOPHI_LOOP_ISA names:
/// base, avx512 or avx512_bf16. Errors: InvalidArgument for another word, on the first call.
LoopIsa loop_isa();

/// Whether run_widest takes the AVX-512 form.
inline bool has_wide() { return loop_isa() >= LoopIsa::kAvx512; }

#ifdef __x86_64__
/// Of a function that may use AVX-512: where has_wide().
#define PHI_WIDE_TARGET \
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")]]
#define PHI_WIDE_ [[gnu::flatten]] PHI_WIDE_TARGET
#else
#define PHI_WIDE_
#endif
namespace detail {
/// Flattened: all that loop() calls is compiled into this function, for its instructions. Of a
/// copy: what that captures by value cannot alias the arrays. The copy is made here, where it stays
/// in registers: one handed over in memory is read in wider pieces than it was just written in, for
/// which processors wait.
template <typename Loop>
PHI_WIDE_ auto run_wide(const Loop& loop) {
  const Loop copy = loop;
  return copy();
}
}  // namespace detail
#undef PHI_WIDE_

/// Of loops that compute in C: whether they have an AVX-512 form.
template <typename C>
inline constexpr bool kHasWideForm = std::is_floating_point_v<C>;

/// loop(), where C is the type that it computes in: for floating-point numbers it is compiled
/// twice, for the program's instructions and for AVX-512. Both do the same arithmetic, element for
/// element and in the lanes of a sum. What loop() calls must be defined inline, for the rest keeps
/// the program's instructions.
template <typename C, typename Loop>
inline auto run_widest(Loop loop) {
  if constexpr (kHasWideForm<C>) {
    if (has_wide()) return detail::run_wide(loop);
  }
  return loop();
}

}  // namespace phi
