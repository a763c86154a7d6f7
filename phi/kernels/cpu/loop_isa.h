// run_best_isa: compiles hot loops a second time for AVX-512, which the build (x86-64-v3 by
// default) does not require. The AVX-512 version runs if the machine supports it.
//
//   run_best_isa<float>([=] {
//     for (int64_t i = 0; i < n; ++i) out[i] = f(x[i]);
//   });
#pragma once

#include <type_traits>

namespace phi {

/// Instruction sets of loops; each includes those before it. Results are the same bit for bit.
enum class LoopIsa { kBase, kAvx512, kAvx512Bf16 };

/// Returns the machine's best instruction set, or an earlier one if environment variable
/// AUTOPHI_LOOP_ISA names it: base, avx512 or avx512_bf16.
///
/// Errors   InvalidArgument for another value, on the first call.
LoopIsa loop_isa();

/// Whether run_best_isa runs the AVX-512 version.
inline bool has_avx512() { return loop_isa() >= LoopIsa::kAvx512; }

#ifdef __x86_64__
/// Marks a function that is compiled for AVX-512. Call it only if has_avx512().
#define PHI_AVX512_TARGET \
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")]]
#define PHI_AVX512_ [[gnu::flatten]] PHI_AVX512_TARGET
#else
#define PHI_AVX512_
#endif
namespace detail {
/// Runs a copy of `loop`, compiled for AVX-512 with everything that it calls (flattened).
///
/// - The compiler knows that values captured in a local copy do not alias the arrays.
/// - The copy is made here, where it stays in registers. A copy passed through memory would be read
///   in wider pieces than it was just written, and processors stall on such loads.
template <typename Loop>
PHI_AVX512_ auto run_avx512(const Loop& loop) {
  const Loop copy = loop;
  return copy();
}
}  // namespace detail
#undef PHI_AVX512_

/// Whether loops over compute type C have an AVX-512 version.
template <typename C>
inline constexpr bool kHasAvx512Version = std::is_floating_point_v<C>;

/// Runs `loop`, whose compute type is C. If C is floating-point, `loop` is compiled twice, for the
/// program's instruction set and for AVX-512. Both versions do the same arithmetic, for each
/// element and for each lane of a sum. Functions that `loop` calls must be defined inline; others
/// run with the program's instruction set.
template <typename C, typename Loop>
inline auto run_best_isa(Loop loop) {
  if constexpr (kHasAvx512Version<C>) {
    if (has_avx512()) return detail::run_avx512(loop);
  }
  return loop();
}

}  // namespace phi
