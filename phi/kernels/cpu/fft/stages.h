// Transforms of n numbers, lines side by side, with one stage per factor of n (Cooley and Tukey). A
// stage of factor p first computes p transforms of n / p numbers, one after the other, so that each
// stays in the first-level cache. It then combines them, p numbers at a time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <type_traits>
#include <vector>

#include "phi/kernels/cpu/fft/butterflies.h"

namespace phi {

/// The largest factor that has a stage.
inline constexpr int kLargestFactor = 61;

/// Returns exp(2 pi i turns).
inline std::complex<double> unit(double turns) {
  return std::polar(1.0, 2 * std::numbers::pi * turns);
}

/// Returns n's factors in the order of stages. They rise: the last stage has no twiddle factors and
/// gets the largest. Powers of two become factors of 8 and, for the rest, one 2, one 4 or two 4s.
/// If `sixteen`, n = 16 is a single factor.
inline std::vector<int> factors_of(int64_t n, bool sixteen) {
  if (n == 1 || (n == 16 && sixteen)) return {static_cast<int>(n)};
  std::vector<int> factors;
  const int twos = std::countr_zero(static_cast<uint64_t>(n));
  const int fours = twos % 3 == 2 ? 1 : twos % 3 == 1 && twos > 1 ? 2 : 0;
  factors.insert(factors.end(), fours, 4);
  factors.insert(factors.end(), (twos - 2 * fours) / 3, 8);
  if (twos == 1) factors.push_back(2);
  n >>= twos;
  for (int p = 3; n > 1; p += 2) {
    for (; n % p == 0; n /= p) factors.push_back(p);
  }
  std::sort(factors.begin(), factors.end());
  return factors;
}

/// Tables of a stage, which combines `factor` transforms of `rest` numbers each.
template <typename R>
struct Stage {
  Stage(int64_t f, int64_t r) : factor(f), rest(r) {
    for (int64_t j = 0; j < rest; ++j) {
      for (int64_t k = 1; k < factor; ++k) turns.push_back(forward_unit(j * k, factor * rest));
    }
    for (int64_t k = 0; k < factor; ++k) units.push_back(forward_unit(k, factor));
  }
  static ComplexLanes<R> forward_unit(int64_t k, int64_t n) {
    const auto w = unit(-static_cast<double>(k) / static_cast<double>(n));
    return {static_cast<R>(w.real()), static_cast<R>(w.imag())};
  }

  int64_t factor, rest;
  std::vector<ComplexLanes<R>>
      turns;  // exp(-2 pi i j k / (factor * rest)), by j < rest, then k = 1..
  std::vector<ComplexLanes<R>> units;  // exp(-2 pi i k / factor)
};

namespace detail {

/// Numbers of a block, `step` numbers apart. Row `real` of a number is read as its real part and
/// its other row as the imaginary part. Exchanging the two turns a forward transform into a
/// backward one.
template <typename V>
struct NumbersOfBlock {
  V* first;
  int64_t step;
  int real;
  PHI_LANES auto at(int64_t k) const {
    const V* const row = first + 2 * k * step;
    return ComplexLanes<std::remove_const_t<V>>{row[real], row[1 - real]};
  }
  template <typename W>
  PHI_LANES void put(const ComplexLanes<W>& z, int64_t k) const {
    first[2 * k * step + real] = z.re;
    first[2 * k * step + 1 - real] = z.im;
  }
};

/// Numbers of adjacent lines of an array; the two halves of a register go to two places.
template <typename R, int L>
struct NumbersOfLines {
  LinePointers<R, 2> arrays;
  int64_t first;
  int64_t step;
  int real;
  PHI_LANES void put(const ComplexLanes<Lanes<R, L>>& z, int64_t k) const {
    put_numbers<L>(real == 0 ? z : ComplexLanes<Lanes<R, L>>{z.im, z.re}, arrays,
                   2 * (first + k * step));
  }
};

/// The butterflies of a stage. P is its factor if known at compile time, or 0 for any factor.
template <int P, typename R, typename V>
class Butterfly {
 public:
  PHI_LANES explicit Butterfly(const Stage<R>& stage) : stage_(stage) {
    for (int k = 0; !kEven && k <= size() / 2; ++k) units_[k] = spread(stage.units[k]);
  }
  PHI_LANES int size() const { return P > 0 ? P : static_cast<int>(stage_.factor); }

  /// Combines number j of each transform. kTurned is false for j = 0, whose twiddle factors are 1.
  template <bool kTurned, typename From, typename To>
  PHI_LANES void run(int64_t j, const From& from, const To& to) const {
    const ComplexLanes<R>* const turns = stage_.turns.data() + j * (size() - 1);
    const auto load = [&](int k) {
      const ComplexLanes<V> z = from.at(k);
      return kTurned && k > 0 ? z * spread(turns[k - 1]) : z;
    };
    if constexpr (kEven) {
      transform_even<R, P>(load, [&](int k, const ComplexLanes<V>& z) { to.put(z, k); });
    } else {
      std::array<ComplexLanes<V>, kRoom> x;
      each(0, [&](int k) { x[k] = load(k); });
      ComplexLanes<V> room[kRoom];
      transform_odd(size(), units_, x.data(), room);
      each(0, [&](int k) { to.put(x[k], k); });
    }
  }

 private:
  static constexpr bool kEven = P > 0 && P % 2 == 0;
  static constexpr int kRoom = P > 0 ? P : kLargestFactor;

  PHI_LANES static ComplexLanes<V> spread(const ComplexLanes<R>& z) { return {V(z.re), V(z.im)}; }
  template <typename F>
  PHI_LANES void each(int first, F f) const {
    if constexpr (P > 0) {
#pragma GCC unroll 16
      for (int k = first; k < P; ++k) f(k);
    } else {
      for (int k = first; k < size(); ++k) f(k);
    }
  }

  const Stage<R>& stage_;
  ComplexLanes<V> units_[kRoom / 2 + 1];
};

/// Calls f with the stage's Butterfly.
template <typename V, typename R, typename F>
PHI_LANES void with_butterfly(const Stage<R>& stage, F f) {
  switch (stage.factor) {
#define PHI_FACTOR_(P) \
  case P:              \
    return f(Butterfly<P, R, V>(stage))
    PHI_FACTOR_(2);
    PHI_FACTOR_(3);
    PHI_FACTOR_(4);
    PHI_FACTOR_(5);
    PHI_FACTOR_(7);
    PHI_FACTOR_(8);
    PHI_FACTOR_(16);
#undef PHI_FACTOR_
    default:
      return f(Butterfly<0, R, V>(stage));
  }
}

}  // namespace detail

/// The transform of n numbers in blocks as in line_blocks.h: row 2t has L real parts, row 2t + 1
/// the imaginary parts. n has no prime factor above kLargestFactor.
template <typename R, int L>
class Stages {
 public:
  using V = lanes_t<R, L>;

  Stages(int64_t n, bool forward) : real_(forward ? 0 : 1) {
    // A factor of 16 needs the 32 registers of AVX-512.
    constexpr bool kSixteen = L > kLanes<R>;
    for (int factor : factors_of(n, kSixteen)) stages_.emplace_back(factor, n /= factor);
  }

  /// Transforms `in`, which does not change, to `out`, another block.
  void run(const V* in, V* out) const { run_from(0, in, 1, out); }
  /// Transforms `in` and writes to adjacent lines of the arrays `out`, from number `first` on.
  /// Consecutive elements of a line are `apart` numbers apart. `room` is another block.
  template <size_t K>
  void run_to_neighbours(const V* in, V* room, const std::array<R*, K>& out, int64_t first,
                         int64_t apart) const {
    if (stages_.size() > 1) {
      run_parts(0, in, 1, room);
      in = room;
    }
    // L adjacent numbers of one array are written as two halves.
    put_together_there(in, {out[0], K == 1 ? out[0] + L : out[K - 1]}, first, apart);
  }

 private:
  /// Runs the stages from number `first` on, for numbers that are `step` apart.
  void run_from(size_t first, const V* in, int64_t step, V* out) const {
    if (first + 1 == stages_.size()) return run_last(1, in, step, out);
    run_parts(first, in, step, out);
    put_together(stages_[first], out);
  }
  /// Computes the transforms that stage `first` combines, one after the other.
  void run_parts(size_t first, const V* in, int64_t step, V* out) const {
    const Stage<R>& stage = stages_[first];
    if (first + 2 == stages_.size()) return run_last(stage.factor, in, step, out);
    for (int64_t k = 0; k < stage.factor; ++k) {
      run_from(first + 1, in + 2 * k * step, stage.factor * step, out + 2 * k * stage.rest);
    }
  }

  // The functions below take most of the time; they run in the lanes' instruction set.
  /// The last stage, `count` times.
  [[gnu::noinline]] void run_last(int64_t count, const V* in, int64_t step, V* out) const {
    run_in_lanes<R, L>([=, this] {
      detail::with_butterfly<V>(stages_.back(), [=, this](const auto& butterfly) {
        for (int64_t i = 0; i < count; ++i) {
          butterfly.template run<false>(
              0, detail::NumbersOfBlock<const V>{in + 2 * i * step, count * step, real_},
              detail::NumbersOfBlock<V>{out + 2 * i * butterfly.size(), 1, real_});
        }
      });
    });
  }
  [[gnu::noinline]] void put_together(const Stage<R>& stage, V* block) const {
    run_in_lanes<R, L>([=, this, &stage] {
      detail::with_butterfly<V>(stage, [=, this, &stage](const auto& butterfly) {
        const detail::NumbersOfBlock<V> rows{block, stage.rest, real_};
        run_all(butterfly, stage.rest, rows, rows, 2);
      });
    });
  }
  [[gnu::noinline]] void put_together_there(const V* block, const LinePointers<R, 2>& out,
                                            int64_t first, int64_t apart) const {
    run_in_lanes<R, L>([=, this, &out] {
      const Stage<R>& stage = stages_.front();
      detail::with_butterfly<V>(stage, [=, this, &out, &stage](const auto& butterfly) {
        run_all(butterfly, stage.rest, detail::NumbersOfBlock<const V>{block, stage.rest, real_},
                detail::NumbersOfLines<R, L>{one_by_one(out), first, apart * stage.rest, real_},
                apart);
      });
    });
  }
  template <typename B, typename From, typename To>
  PHI_LANES static void run_all(const B& butterfly, int64_t count, From from, To to,
                                int64_t to_step) {
    butterfly.template run<false>(0, from, to);
    for (int64_t j = 1; j < count; ++j) {
      from.first += 2;
      to.first += to_step;
      butterfly.template run<true>(j, from, to);
    }
  }

  int real_;  // the row of a number that is read as its real part
  std::vector<Stage<R>> stages_;
};

}  // namespace phi
