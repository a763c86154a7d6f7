// Numbers of several lines side by side, one per lane of a register: what a transform of one line
// computes in, to transform all of them at once.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "phi/kernels/cpu/wide.h"

// How a function would be called with wider registers than the program's: none of these is.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace phi {

#define PHI_LANES [[gnu::always_inline]] inline

/// L numbers, of which each operator takes all at once. Every function is inlined, for the
/// instructions of the one that calls it. A wide vector's alignment goes by these, so it is told.
template <typename R, int L>
struct alignas(L * sizeof(R)) Lanes {
  typedef R Vector __attribute__((vector_size(L * sizeof(R))));

  PHI_LANES Lanes() : v{} {}
  /// A product, of which g++ 12 makes one broadcast; of `x - Vector{}` it makes one per lane.
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

  Vector v;
};

/// The lanes of a register; where the machine has AVX-512 the wide ones.
template <typename R>
inline constexpr int kLanes = 32 / static_cast<int>(sizeof(R));
template <typename R>
inline constexpr int kWideLanes = 2 * kLanes<R>;

/// What L lines are computed in.
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

/// f() in the instructions that registers of L lanes need, as run_widest has it.
template <typename R, int L, typename F>
inline void run_in_lanes(F f) {
  if constexpr (L > kLanes<R>) {
    detail::run_wide(f);
  } else {
    f();
  }
}

namespace detail {
/// Elements f(0), f(1).. of a and b, one behind the other.
template <typename R, int L, typename F, int... I>
PHI_LANES Lanes<R, L> pick(const Lanes<R, L>& a, const Lanes<R, L>& b, F,
                           std::integer_sequence<int, I...>) {
  return Lanes<R, L>::of(__builtin_shufflevector(a.v, b.v, F()(I)...));
}
template <typename R, int L, typename F>
PHI_LANES Lanes<R, L> pick(const Lanes<R, L>& a, const Lanes<R, L>& b, F f) {
  return pick(a, b, f, std::make_integer_sequence<int, L>());
}
}  // namespace detail

/// a0 b0 a1 b1.. in `first`, and how that goes on in `second`.
template <typename R, int L>
PHI_LANES void interleave(const Lanes<R, L>& a, const Lanes<R, L>& b, Lanes<R, L>* first,
                          Lanes<R, L>* second) {
  *first = detail::pick(a, b, [](int i) { return i / 2 + i % 2 * L; });
  *second = detail::pick(a, b, [](int i) { return L / 2 + i / 2 + i % 2 * L; });
}

/// The other way.
template <typename R, int L>
PHI_LANES void separate(const Lanes<R, L>& first, const Lanes<R, L>& second, Lanes<R, L>* a,
                        Lanes<R, L>* b) {
  *a = detail::pick(first, second, [](int i) { return 2 * i; });
  *b = detail::pick(first, second, [](int i) { return 2 * i + 1; });
}

/// The last one first.
template <typename R, int L>
PHI_LANES Lanes<R, L> reversed(const Lanes<R, L>& a) {
  return detail::pick(a, a, [](int i) { return L - 1 - i; });
}

/// A square: element j of row i becomes element i of row j.
template <typename R, int L>
PHI_LANES void transpose(Lanes<R, L> (&rows)[L]) {
#pragma GCC unroll 4
  for (int done = 1; done < L; done *= 2) {
    Lanes<R, L> next[L];
#pragma GCC unroll 16
    for (int i = 0; i < L / 2; ++i) {
      interleave(rows[i], rows[i + L / 2], &next[2 * i], &next[2 * i + 1]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < L; ++i) rows[i] = next[i];
  }
}

}  // namespace phi
