// Transforms of lines against their sums: of lengths with small and with large prime factors, of
// one line to more than lanes hold, wherever they lie; and what does not go from line to line.
#include "phi/kernels/cpu/fft/line_transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

namespace phi {
namespace {

using C = std::complex<double>;
using Wide = std::complex<long double>;

std::vector<double> random_numbers(size_t n) {
  std::mt19937 generator(static_cast<uint32_t>(n));
  std::normal_distribution<double> normal;
  std::vector<double> numbers(n);
  for (double& x : numbers) x = normal(generator);
  return numbers;
}

/// Numbers that both types have.
template <typename X>
std::vector<X> random_lines(int64_t count) {
  std::vector<X> lines;
  if constexpr (std::is_floating_point_v<X>) {
    for (double x : random_numbers(static_cast<size_t>(count))) lines.push_back(static_cast<X>(x));
  } else {
    using R = typename X::value_type;
    const std::vector<R> parts = random_lines<R>(2 * count);
    for (size_t i = 0; i < parts.size(); i += 2) lines.push_back({parts[i], parts[i + 1]});
  }
  return lines;
}

/// exp(-2 pi i k / n) for each k.
const std::vector<Wide>& units(int64_t n, bool forward) {
  static std::map<std::pair<int64_t, bool>, std::vector<Wide>> known;
  const auto [at, is_new] = known.try_emplace({n, forward});
  std::vector<Wide>& units = at->second;
  for (int64_t k = 0; is_new && k < n; ++k) {
    const long double turns = static_cast<long double>(k) / static_cast<long double>(n);
    units.push_back(std::polar(1.0L, (forward ? -2 : 2) * std::numbers::pi_v<long double> * turns));
  }
  return units;
}

int64_t smallest_factor(int64_t n) {
  for (int64_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}

/// By their definition for a prime length; of p times as many by those of every p-th number.
std::vector<Wide> wide_sums(const std::vector<Wide>& in, bool forward) {
  const auto n = static_cast<int64_t>(in.size());
  const int64_t p = smallest_factor(n), rest = n / p;
  std::vector<std::vector<Wide>> parts(p);
  for (int64_t t = 0; t < n; ++t) parts[t % p].push_back(in[t]);
  if (rest > 1) {
    for (std::vector<Wide>& part : parts) part = wide_sums(part, forward);
  }
  const std::vector<Wide>& w = units(n, forward);
  std::vector<Wide> out;
  for (int64_t k = 0; k < n; ++k) {
    long double real = 0, imag = 0;
    for (int64_t r = 0; r < p; ++r) {
      const Wide z = parts[r][k % rest], turn = w[r * k % n];
      real += z.real() * turn.real() - z.imag() * turn.imag();
      imag += z.real() * turn.imag() + z.imag() * turn.real();
    }
    out.emplace_back(real, imag);
  }
  return out;
}

/// With digits to spare for doubles.
std::vector<C> sums(const std::vector<C>& in, bool forward) {
  std::vector<C> out;
  for (const Wide& z : wide_sums({in.begin(), in.end()}, forward)) out.emplace_back(z);
  return out;
}

/// How lines lie: each behind the one before, or element beside element in three groups.
struct Lay {
  int64_t lines;
  bool beside;
  int64_t groups() const { return beside && lines % 3 == 0 ? 3 : 1; }
  LineStrides strides(int64_t n) const {
    const int64_t inner = lines / groups();
    return beside ? LineStrides{inner * n, 1, inner} : LineStrides{inner * n, n, 1};
  }
  LineGrid grid(int64_t from, int64_t to) const {
    return {groups(), lines / groups(), strides(from), strides(to)};
  }
  int64_t at(int64_t line, int64_t n, int64_t t) const {
    const int64_t inner = lines / groups();
    const LineStrides s = strides(n);
    return line / inner * s.outer + line % inner * s.inner + t * s.step;
  }
};

template <typename X>
std::vector<C> line_of(const std::vector<X>& x, const Lay& lay, int64_t line, int64_t n) {
  std::vector<C> found;
  for (int64_t t = 0; t < n; ++t) found.push_back(C(x[lay.at(line, n, t)]));
  return found;
}

/// By the root of the mean square, in units of the type's precision.
template <typename R>
double error_of(const std::vector<C>& found, const std::vector<C>& expected) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += std::norm(found[i] - expected[i]);
    size += std::norm(expected[i]);
  }
  return std::sqrt(difference / size) / std::numeric_limits<R>::epsilon();
}

// Of Bluestein's two transforms and three products.
constexpr double kLargestError = 4;

template <typename R>
void check_complex(int64_t n, const Lay& lay, bool forward) {
  const auto x = random_lines<Complex<R>>(lay.lines * n);
  std::vector<Complex<R>> out(x.size()), same = x;
  LineTransform<R> transform(n, forward, LineKind::kComplex);
  transform.of_complex(lay.grid(n, n), R(0.5), x.data(), out.data());
  transform.of_complex(lay.grid(n, n), R(0.5), same.data(), same.data());
  EXPECT_EQ(out, same);
  for (int64_t line = 0; line < lay.lines; ++line) {
    std::vector<C> expected = sums(line_of(x, lay, line, n), forward);
    for (C& z : expected) z *= 0.5;
    EXPECT_LT(error_of<R>(line_of(out, lay, line, n), expected), kLargestError)
        << n << ", line " << line << " of " << lay.lines;
  }
}

/// n / 2 + 1 numbers, or all.
template <typename R>
void check_real(int64_t n, const Lay& lay, bool forward, bool all) {
  const auto x = random_lines<R>(lay.lines * n);
  const auto window = random_lines<R>(n);
  const int64_t kept = all ? n : n / 2 + 1;
  std::vector<Complex<R>> out(static_cast<size_t>(lay.lines * kept));
  LineTransform<R> transform(n, forward, LineKind::kReal);
  transform.of_real(lay.grid(n, kept), window.data(), {kept, R(0.5), R(0.25)}, x.data(),
                    out.data());
  for (int64_t line = 0; line < lay.lines; ++line) {
    std::vector<C> weighted = line_of(x, lay, line, n);
    for (int64_t t = 0; t < n; ++t) weighted[t] *= window[t];
    std::vector<C> expected = sums(weighted, forward);
    expected.resize(static_cast<size_t>(kept));
    for (int64_t k = 0; k < kept; ++k) expected[k] *= k == 0 || 2 * k == n ? 0.5 : 0.25;
    EXPECT_LT(error_of<R>(line_of(out, lay, line, kept), expected), kLargestError)
        << n << ", line " << line << " of " << lay.lines;
  }
}

/// Of `given` numbers, the real part of the sum: a number and its conjugate have a half each.
template <typename R>
void check_to_real(int64_t n, const Lay& lay, bool forward, int64_t given) {
  const auto x = random_lines<Complex<R>>(lay.lines * given);
  std::vector<R> out(static_cast<size_t>(lay.lines * n));
  LineTransform<R> transform(n, forward, LineKind::kReal);
  transform.to_real(lay.grid(given, n), {given, R(1), R(0.5)}, x.data(), out.data());
  for (int64_t line = 0; line < lay.lines; ++line) {
    std::vector<C> numbers = line_of(x, lay, line, given);
    numbers.resize(static_cast<size_t>(n));
    std::vector<C> expected = sums(numbers, forward);
    for (C& z : expected) z = z.real();
    EXPECT_LT(error_of<R>(line_of(out, lay, line, n), expected), kLargestError)
        << n << ", line " << line << " of " << lay.lines;
  }
}

template <typename R>
void check_all(int64_t n, const Lay& lay) {
  for (bool forward : {true, false}) {
    check_complex<R>(n, lay, forward);
    check_real<R>(n, lay, forward, false);
    check_real<R>(n, lay, forward, true);
    for (int64_t given : {(n + 2) / 3, n / 2 + 1, n}) check_to_real<R>(n, lay, forward, given);
  }
}

template <typename R>
class LineTransformOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LineTransformOf, Reals);

TYPED_TEST(LineTransformOf, ShortLinesEqualTheirSums) {
  for (int64_t n = 1; n <= 40; ++n) {
    for (int64_t lines = 1; lines <= 20; ++lines) {
      check_all<TypeParam>(n, {lines, (n + lines) % 2 == 0});
    }
  }
}

TYPED_TEST(LineTransformOf, LongerLinesEqualTheirSums) {
  for (int64_t n : {49, 61, 64, 67, 97, 100, 122, 128, 134, 201, 400, 1000}) {
    for (int64_t lines : {1, 3, 17}) check_all<TypeParam>(n, {lines, lines == 3});
  }
  for (int64_t lines : {1, 3}) check_all<TypeParam>(997, {lines, lines == 3});
  check_all<TypeParam>(64, {60, true});
}

// Of multiples of the lanes' square: one by one where their numbers are neighbours, and at once
// where they are not.
TYPED_TEST(LineTransformOf, LinesOfMultiplesEqualTheirSums) {
  for (int64_t n : {256, 272, 320, 512, 1040, 2048}) {
    for (bool beside : {false, true}) check_all<TypeParam>(n, {2, beside});
  }
}

// They are transformed one by one; their numbers of columns fill the lanes or do not.
TYPED_TEST(LineTransformOf, LongLinesEqualTheirSums) {
  for (int64_t n : {4096, 4100, 4375}) check_all<TypeParam>(n, {1, false});
  check_all<TypeParam>(2058, {3, true});
  check_all<TypeParam>(2197, {1, false});  // 13 rows, fewer than lanes
  check_complex<TypeParam>(2063, {2, true}, true);
  check_real<TypeParam>(2063, {2, false}, false, false);
}

TYPED_TEST(LineTransformOf, HowManyLinesThereAreMakesNoDifference) {
  using R = TypeParam;
  for (int64_t n : {12, 67, 200, 256, 2197}) {
    const Lay lay{19, false}, alone{1, false};
    const auto x = random_lines<Complex<R>>(lay.lines * n);
    std::vector<Complex<R>> out(x.size()), each(x.size());
    LineTransform<R> transform(n, true, LineKind::kComplex);
    transform.of_complex(lay.grid(n, n), 1, x.data(), out.data());
    for (int64_t line = 0; line < lay.lines; ++line) {
      transform.of_complex(alone.grid(n, n), 1, x.data() + line * n, each.data() + line * n);
    }
    EXPECT_EQ(out, each) << n;
  }
}

/// Whether each line's numbers are finite where it is not `line`, and none of its own are.
template <typename X>
void expect_only(const std::vector<X>& x, const Lay& lay, int64_t n, int64_t line) {
  for (int64_t other = 0; other < lay.lines; ++other) {
    for (const C& z : line_of(x, lay, other, n)) {
      EXPECT_EQ(std::isfinite(z.real()) && std::isfinite(z.imag()), other != line) << n;
    }
  }
}

TYPED_TEST(LineTransformOf, WhatIsNotFiniteStaysInItsLine) {
  using R = TypeParam;
  for (const R value : {std::numeric_limits<R>::infinity(), std::numeric_limits<R>::quiet_NaN()}) {
    for (int64_t n : {4, 9, 30, 64, 67, 134}) {
      for (int64_t line : {0, 1, 7, 18}) {
        for (bool beside : {true, false}) {
          const Lay lay{19, beside};
          auto x = random_lines<R>(lay.lines * n);
          x[lay.at(line, n, n / 2)] = value;
          std::vector<Complex<R>> z(x.begin(), x.end()), out(z.size());
          LineTransform<R>(n, true, LineKind::kComplex)
              .of_complex(lay.grid(n, n), 1, z.data(), out.data());
          expect_only(out, lay, n, line);
          LineTransform<R> transform(n, true, LineKind::kReal);
          transform.of_real(lay.grid(n, n), nullptr, {n, 1, 1}, x.data(), out.data());
          expect_only(out, lay, n, line);
          transform.to_real(lay.grid(n, n), {n, 1, 1}, z.data(), x.data());
          expect_only(x, lay, n, line);
        }
      }
    }
  }
}

// A small line among large ones keeps its digits.
TYPED_TEST(LineTransformOf, LinesOfAnySizeKeepTheirDigits) {
  using R = TypeParam;
  for (int64_t n : {12, 15, 64, 97}) {
    const Lay lay{17, false};
    auto x = random_lines<R>(lay.lines * n);
    for (int64_t line = 1; line < lay.lines; ++line) {
      for (int64_t t = 0; t < n; ++t) x[lay.at(line, n, t)] *= line % 2 == 0 ? R(1e12) : R(0);
    }
    std::vector<Complex<R>> out(x.size());
    LineTransform<R>(n, true, LineKind::kReal)
        .of_real(lay.grid(n, n), nullptr, {n, 1, 1}, x.data(), out.data());
    EXPECT_LT(error_of<R>(line_of(out, lay, 0, n), sums(line_of(x, lay, 0, n), true)),
              kLargestError);
    for (const C& z : line_of(out, lay, 1, n)) EXPECT_EQ(z, C());
  }
}

}  // namespace
}  // namespace phi
