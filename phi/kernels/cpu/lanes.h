// Lanes: a SIMD register with one number per lane. Code that is written for one line of an array,
// or for one small matrix, computes as many of them at once as the register has lanes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "phi/kernels/cpu/loop_isa.h"

// g++ warns that calls with registers wider than the program's change their ABI. All functions here
// are inlined, so there are no such calls.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace phi {

#define PHI_LANES [[gnu::always_inline]] inline

/// A register of L numbers; operators work on all lanes. Every function is inlined and is therefore
/// compiled for its caller's instruction set. The compiler would also derive the alignment of a
/// wide vector from the instruction set, so the alignment is explicit.
template <typename R, int L>
struct alignas(L * sizeof(R)) Lanes {
  typedef R Vector __attribute__((vector_size(L * sizeof(R))));

  PHI_LANES Lanes() : v{} {}
  /// Broadcasts x. Written as a multiplication because g++ 12 compiles it to one broadcast; adding
  /// x to a zero vector inserts each lane.
  PHI_LANES Lanes(R x) {
    Vector ones;
    for (int l = 0; l < L; ++l) ones[l] = 1;
    v = ones * x;
  }
  PHI_LANES static Lanes of(const Vector& v) {
    Lanes lanes;
    lanes.v = v;
    return lanes;
  }
  PHI_LANES static Lanes at(const R* x) {
    Lanes lanes;
    std::memcpy(&lanes.v, x, sizeof(Vector));
    return lanes;
  }
  PHI_LANES void put(R* x) const { std::memcpy(x, &v, sizeof(Vector)); }

  PHI_LANES Lanes operator-() const { return of(-v); }
  PHI_LANES Lanes& operator+=(const Lanes& b) { return v += b.v, *this; }
  PHI_LANES Lanes& operator-=(const Lanes& b) { return v -= b.v, *this; }
  PHI_LANES Lanes& operator*=(const Lanes& b) { return v *= b.v, *this; }
  PHI_LANES friend Lanes operator+(const Lanes& a, const Lanes& b) { return of(a.v + b.v); }
  PHI_LANES friend Lanes operator-(const Lanes& a, const Lanes& b) { return of(a.v - b.v); }
  PHI_LANES friend Lanes operator*(const Lanes& a, const Lanes& b) { return of(a.v * b.v); }
  PHI_LANES friend Lanes operator/(const Lanes& a, const Lanes& b) { return of(a.v / b.v); }
  /// Comparisons return a mask per lane, for choose().
  PHI_LANES friend auto operator<(const Lanes& a, const Lanes& b) { return a.v < b.v; }
  PHI_LANES friend auto operator==(const Lanes& a, const Lanes& b) { return a.v == b.v; }
  template <typename Which>
  PHI_LANES friend Lanes choose(const Which& which, const Lanes& yes, const Lanes& no) {
    return of(which ? yes.v : no.v);
  }
  PHI_LANES friend Lanes magnitude(const Lanes& a) { return choose(a < Lanes(), -a, a); }

  Vector v;
};

/// Lanes of a register of the program's instruction set, and of an AVX-512 register.
template <typename R>
inline constexpr int kLanes = 32 / static_cast<int>(sizeof(R));
template <typename R>
inline constexpr int kWideLanes = 2 * kLanes<R>;

/// The type in which L lines are computed at once: Lanes, or R itself for one line.
template <typename R, int L>
struct lanes_of {
  using type = Lanes<R, L>;
};
template <typename R>
struct lanes_of<R, 1> {
  using type = R;
};
template <typename R, int L>
using lanes_t = typename lanes_of<R, L>::type;

/// Runs f with the instruction set that registers of L lanes need; see run_best_isa.
template <typename R, int L, typename F>
inline auto run_in_lanes(const F& f) {
  if constexpr (L > kLanes<R>) {
    return detail::run_avx512(f);
  } else {
    return f();
  }
}

namespace detail {
/// Returns lanes f(0), f(1), .. of the concatenation of a and b.
template <typename R, int L, typename F, int... I>
PHI_LANES Lanes<R, L> pick(const Lanes<R, L>& a, const Lanes<R, L>& b, F,
                           std::integer_sequence<int, I...>) {
  return Lanes<R, L>::of(__builtin_shufflevector(a.v, b.v, F()(I)...));
}
template <typename R, int L, typename F>
PHI_LANES Lanes<R, L> pick(const Lanes<R, L>& a, const Lanes<R, L>& b, F f) {
  return pick(a, b, f, std::make_integer_sequence<int, L>());
}
/// Index of lane i of interleave's first or second result in the concatenation of a and b.
template <int kParts, int kUnit, int L>
constexpr int interleaved(int i, bool is_second) {
  const int units = L / kParts / kUnit, unit = i / kUnit, in_part = unit % units;
  const int from = unit - in_part + in_part / 2 + (is_second ? units / 2 : 0);
  return from * kUnit + i % kUnit + unit % 2 * L;
}
}  // namespace detail

/// Interleaves a and b: `first` is a0 b0 a1 b1 .., and `second` continues it. The unit that
/// alternates has kUnit lanes, and each of kParts parts of the registers is interleaved separately.
template <int kParts = 1, int kUnit = 1, typename R, int L>
PHI_LANES void interleave(const Lanes<R, L>& a, const Lanes<R, L>& b, Lanes<R, L>* first,
                          Lanes<R, L>* second) {
  *first =
      detail::pick(a, b, [](int i) { return detail::interleaved<kParts, kUnit, L>(i, false); });
  *second =
      detail::pick(a, b, [](int i) { return detail::interleaved<kParts, kUnit, L>(i, true); });
}

/// The inverse of interleave for single lanes.
template <typename R, int L>
PHI_LANES void separate(const Lanes<R, L>& first, const Lanes<R, L>& second, Lanes<R, L>* a,
                        Lanes<R, L>* b) {
  *a = detail::pick(first, second, [](int i) { return 2 * i; });
  *b = detail::pick(first, second, [](int i) { return 2 * i + 1; });
}

/// Returns the lanes in reverse order.
template <typename R, int L>
PHI_LANES Lanes<R, L> reversed(const Lanes<R, L>& a) {
  return detail::pick(a, a, [](int i) { return L - 1 - i; });
}

namespace detail {
/// Transposes a square of kRows x kRows units of kUnit lanes; rows are kStep elements of `rows`
/// apart.
template <int kParts, int kUnit, int kStep, int kRows, typename R, int L>
PHI_LANES void transpose_units(Lanes<R, L>* rows) {
#pragma GCC unroll 4
  for (int done = 1; done < kRows; done *= 2) {
    Lanes<R, L> next[kRows];
#pragma GCC unroll 16
    for (int i = 0; i < kRows / 2; ++i) {
      interleave<kParts, kUnit>(rows[i * kStep], rows[(i + kRows / 2) * kStep], &next[2 * i],
                                &next[2 * i + 1]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) rows[i * kStep] = next[i];
  }
}
}  // namespace detail

/// Transposes as many squares of kRows x kRows elements as fit side by side in the registers:
/// element j of a square's row i becomes element i of its row j. Starts within 16 bytes, where each
/// step is one AVX2 instruction.
template <typename R, int L, int kRows>
PHI_LANES void transpose(Lanes<R, L> (&rows)[kRows]) {
  constexpr int kUnit = std::min<int>(kRows, 16 / sizeof(R));
#pragma GCC unroll 16
  for (int i = 0; i < kRows; i += kUnit) {
    detail::transpose_units<L / kUnit, 1, 1, kUnit>(rows + i);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kUnit; ++i) {
    detail::transpose_units<L / kRows, kUnit, kUnit, kRows / kUnit>(rows + i);
  }
}

}  // namespace phi
