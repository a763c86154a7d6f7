// Discrete Fourier transforms of a few complex numbers in registers, from which longer transforms
// are built: sum over t of x[t] exp(-2 pi i k t / P) for each k.
#pragma once

#include <array>
#include <cstdint>

#include "phi/kernels/cpu/lanes.h"

namespace phi {

/// A complex number, or one per lane.
template <typename V>
struct ComplexLanes {
  V re, im;

  PHI_LANES friend ComplexLanes operator+(const ComplexLanes& a, const ComplexLanes& b) {
    return {a.re + b.re, a.im + b.im};
  }
  PHI_LANES friend ComplexLanes operator-(const ComplexLanes& a, const ComplexLanes& b) {
    return {a.re - b.re, a.im - b.im};
  }
  PHI_LANES friend ComplexLanes operator*(const ComplexLanes& a, const ComplexLanes& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

/// First elements of K lines that are transformed together without other lines.
template <typename X, int K>
using LinePointers = std::array<X*, static_cast<size_t>(K)>;

/// Copies the pointers with one load each, as they were stored: one wide load would wait for both
/// stores.
template <typename X, size_t K>
PHI_LANES std::array<X*, K> one_by_one(const std::array<X*, K>& lines) {
  static_assert(K == 1 || K == 2);
  if constexpr (K == 1) {
    return {lines[0]};
  } else {
    return {lines[0], lines[1]};
  }
}

/// Loads L contiguous complex numbers at `offset`, or L / 2 of each of two lines.
template <int L, typename R, size_t K>
PHI_LANES ComplexLanes<Lanes<R, L>> numbers_at(const std::array<const R*, K>& lines,
                                               int64_t offset = 0) {
  static_assert(K == 1 || K == 2);
  ComplexLanes<Lanes<R, L>> z;
  separate(Lanes<R, L>::at(lines[0] + offset),
           Lanes<R, L>::at(lines[K - 1] + offset + (K == 1 ? L : 0)), &z.re, &z.im);
  return z;
}
template <int L, typename R, size_t K>
PHI_LANES void put_numbers(const ComplexLanes<Lanes<R, L>>& z, const std::array<R*, K>& lines,
                           int64_t offset = 0) {
  static_assert(K == 1 || K == 2);
  Lanes<R, L> first, second;
  interleave(z.re, z.im, &first, &second);
  first.put(lines[0] + offset);
  second.put(lines[K - 1] + offset + (K == 1 ? L : 0));
}
template <int L, typename R>
PHI_LANES ComplexLanes<Lanes<R, L>> numbers_at(const R* x) {
  return numbers_at<L>(LinePointers<const R, 1>{x});
}
template <int L, typename R>
PHI_LANES void put_numbers(const ComplexLanes<Lanes<R, L>>& z, R* out) {
  put_numbers<L>(z, LinePointers<R, 1>{out});
}

namespace detail {

/// cos(2 pi k / 16) for k = 0 to 4.
inline constexpr double kCosines[] = {1, 0.92387953251128675613, 0.70710678118654752440,
                                      0.38268343236508977173, 0};

/// Returns z exp(-2 pi i k / p) for k < p / 2, where p is a power of two up to 16. If k is a
/// compile-time constant, no factors of 0 and 1 remain.
template <typename R, typename V>
PHI_LANES ComplexLanes<V> turned(const ComplexLanes<V>& z, int k, int p) {
  const int sixteenths = k * (16 / p);
  if (sixteenths == 0) return z;
  if (sixteenths == 4) return {z.im, V() - z.re};
  const bool second = sixteenths > 4;
  const R cosine = static_cast<R>(second ? -kCosines[8 - sixteenths] : kCosines[sixteenths]);
  const R sine = static_cast<R>(second ? kCosines[sixteenths - 4] : kCosines[4 - sixteenths]);
  if (cosine == sine) return {(z.re + z.im) * V(cosine), (z.im - z.re) * V(cosine)};
  if (cosine == -sine) return {(z.im - z.re) * V(sine), (z.re + z.im) * V(cosine)};
  return {z.re * V(cosine) + z.im * V(sine), z.im * V(cosine) - z.re * V(sine)};
}

}  // namespace detail

/// The transform of P = 1, 2, 4, 8 or 16 numbers. Calls load(t) once per input and put(k, z) once
/// per result, in the order that needs the fewest registers.
template <typename R, int P, typename Load, typename Put>
PHI_LANES void transform_even(const Load& load, const Put& put) {
  if constexpr (P == 1) {
    put(0, load(0));
  } else {
    using Z = decltype(load(0));
    std::array<Z, P / 2> even, odd;
    transform_even<R, P / 2>([&](int t) { return load(2 * t); },
                             [&](int k, const Z& z) { even[k] = z; });
    transform_even<R, P / 2>([&](int t) { return load(2 * t + 1); },
                             [&](int k, const Z& z) { odd[k] = z; });
#pragma GCC unroll 8
    for (int k = 0; k < P / 2; ++k) {
      const Z turned = detail::turned<R>(odd[k], k, P);
      put(k, even[k] + turned);
      put(k + P / 2, even[k] - turned);
    }
  }
}

/// Transforms p numbers of x in place, where p is odd. units[k] = exp(-2 pi i k / p) for k up to p
/// / 2. Results k and p - k use the same multiplications, whose results are added for one and
/// subtracted for the other. `room` has space for p - 1 numbers.
template <typename V>
PHI_LANES void transform_odd(int p, const ComplexLanes<V>* units, ComplexLanes<V>* x,
                             ComplexLanes<V>* room) {
  const int half = p / 2;
  const ComplexLanes<V> first = x[0];
  ComplexLanes<V>* const sums = room;
  ComplexLanes<V>* const differences = room + half;
#pragma GCC unroll 3
  for (int t = 1; t <= half; ++t) {
    sums[t - 1] = x[t] + x[p - t];
    differences[t - 1] = x[t] - x[p - t];
    x[0] = x[0] + sums[t - 1];
  }
#pragma GCC unroll 3
  for (int k = 1; k <= half; ++k) {
    ComplexLanes<V> along = first, across = {V(), V()};
#pragma GCC unroll 3
    for (int t = 1, at = k; t <= half; ++t) {
      const bool mirrored = at > half;
      const ComplexLanes<V>& unit = units[mirrored ? p - at : at];
      const ComplexLanes<V>& difference = differences[t - 1];
      along = {along.re + sums[t - 1].re * unit.re, along.im + sums[t - 1].im * unit.re};
      across = mirrored ? ComplexLanes<V>{across.re - difference.re * unit.im,
                                          across.im - difference.im * unit.im}
                        : ComplexLanes<V>{across.re + difference.re * unit.im,
                                          across.im + difference.im * unit.im};
      at = at + k < p ? at + k : at + k - p;
    }
    // i times `across`.
    x[k] = {along.re - across.im, along.im + across.re};
    x[p - k] = {along.re + across.im, along.im - across.re};
  }
}

}  // namespace phi
