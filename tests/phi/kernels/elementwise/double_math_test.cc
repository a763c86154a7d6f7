// Elementary functions of float64 against the standard library's of long double, in steps of
// float64: over ordinary ranges, over all magnitudes, and at the ends.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/binary.h"
#include "phi/generated/kernels/unary.h"
#include "phi/generated/kernels/unary_math.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

using Wide = long double;

/// How far `got` is from `expected` in steps between doubles there; 0 for two NaN, two infinities
/// of one sign, two zeros of one sign.
double steps_between(double got, Wide expected) {
  const auto rounded = static_cast<double>(expected);
  if (std::isnan(rounded) && std::isnan(got)) return 0;
  if (got == rounded && (std::isinf(got) || got == 0)) {
    return std::signbit(got) == std::signbit(rounded) ? 0 : INFINITY;
  }
  if (!std::isfinite(got) || !std::isfinite(rounded)) return INFINITY;
  int exponent = 0;
  std::frexp(rounded, &exponent);
  const Wide step = std::ldexp(Wide(1), std::max(exponent - 53, -1074));
  return static_cast<double>(std::fabs(got - expected) / step);
}

struct Function {
  const char* name;
  void (*kernel)(const KernelContext&, const DenseTensor&, DenseTensor*);
  Wide (*oracle)(Wide);
  double low;  // ordinary arguments
  double high;
  double steps;  // of float64, at most
};

Wide normal_cdf(Wide x) { return erfcl(-x / sqrtl(Wide(2))) / 2; }

/// By halving an interval; beyond 1/2 on erfc, which keeps its digits there.
Wide erfinv(Wide x) {
  if (!(std::fabs(x) < 1)) return std::fabs(x) == 1 ? std::copysign(Wide(INFINITY), x) : Wide(NAN);
  const Wide magnitude = std::fabs(x);
  // Near 0 by two terms of the series.
  if (magnitude < 1e-8L) return x * sqrtl(acosl(Wide(-1))) / 2;
  Wide low = 0;
  Wide high = 7;
  for (int step = 0; step < 90; ++step) {
    const Wide y = (low + high) / 2;
    const bool is_above = magnitude > 0.5L ? erfcl(y) < 1 - magnitude : erfl(y) > magnitude;
    (is_above ? high : low) = y;
  }
  return std::copysign(low, x);
}

#define FUNCTION_(name, function, low, high, steps) \
  { #name, registered < kernels::name, double>, function, low, high, steps }

const std::vector<Function>& functions() {
  const auto gelu = [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
    registered<kernels::gelu, double>(ctx, x, false, out);
  };
  const auto pow = [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
    registered<kernels::pow, double>(ctx, x, -3.3, out);
  };
  static const std::vector<Function> all = {
      FUNCTION_(exp, expl, -746, 711, 1),
      FUNCTION_(exp, expl, -2, 2, 1),
      FUNCTION_(expm1, expm1l, -2, 2, 2),
      FUNCTION_(log, logl, 0, 3, 1),
      FUNCTION_(log1p, log1pl, -1, 3, 1),
      FUNCTION_(log2, log2l, 0, 3, 2),
      FUNCTION_(log10, log10l, 0, 3, 2),
      FUNCTION_(
          sigmoid, [](Wide x) { return 1 / (1 + expl(-x)); }, -9, 9, 3),
      FUNCTION_(
          silu, [](Wide x) { return x / (1 + expl(-x)); }, -9, 9, 3),
      FUNCTION_(tanh, tanhl, -3, 3, 3),
      FUNCTION_(sinh, sinhl, -3, 3, 3),
      FUNCTION_(sinh, sinhl, -711, 711, 3),
      FUNCTION_(cosh, coshl, -3, 3, 3),
      FUNCTION_(cosh, coshl, -711, 711, 3),
      FUNCTION_(asinh, asinhl, -3, 3, 2),
      FUNCTION_(acosh, acoshl, 0.9, 3, 3),
      FUNCTION_(atanh, atanhl, -1.1, 1.1, 3),
      FUNCTION_(sin, sinl, -9, 9, 2),
      FUNCTION_(sin, sinl, -524'300, 524'300, 3),
      FUNCTION_(cos, cosl, -9, 9, 2),
      FUNCTION_(cos, cosl, -524'300, 524'300, 3),
      FUNCTION_(tan, tanl, -9, 9, 4),
      FUNCTION_(asin, asinl, -1.1, 1.1, 3),
      FUNCTION_(acos, acosl, -1.1, 1.1, 2),
      FUNCTION_(atan, atanl, -5, 5, 2),
      FUNCTION_(erf, erfl, -6, 6, 2),
      FUNCTION_(erfinv, erfinv, -1, 1, 5),
      {"gelu", gelu, [](Wide x) { return x * normal_cdf(x); }, -37, 9, 5},
      {"pow", pow, [](Wide x) { return powl(x, -3.3); }, -1, 9, 1},
  };
  return all;
}
#undef FUNCTION_

void expect_within(const Function& row, const std::vector<double>& xs) {
  const auto n = static_cast<int64_t>(xs.size());
  DenseTensor out = blank<double>({n});
  row.kernel(KernelContext(), DenseTensor::from<double>(xs, {n}), &out);
  double worst = 0;
  double worst_at = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Wide expected = row.oracle(xs[i]);
    double off = steps_between(out.values<double>()[i], expected);
    // A subnormal result may be a product of x and a subnormal number.
    if (std::fabs(expected) < std::numeric_limits<double>::min())
      off /= std::max(1.0, std::fabs(xs[i]));
    if (off > worst) {
      worst = off;
      worst_at = xs[i];
    }
  }
  EXPECT_LE(worst, row.steps) << row.name << "(" << worst_at << ")";
}

// Negative ones are the standard library's.
TEST(DoubleMath, LogarithmOfGamma) {
  const Function row{"lgamma", registered<kernels::lgamma, double>, lgammal, 0, 0, 6};
  std::vector<double> xs = {1.0,    2.0,    1 - 0x1p-53, 1 + 0x1p-52, 2 - 0x1p-52, 8 - 0x1p-50, 8.0,
                            1e-310, 1e-300, 1e10,        1e305,       1e308,       INFINITY};
  for (int i = 1; i <= 20'000; ++i) xs.push_back(i / 1024.0 + 1e-9 * i);
  expect_within(row, xs);
}

TEST(DoubleMath, OrdinaryArguments) {
  constexpr int kCount = 20'001;
  for (const Function& row : functions()) {
    std::vector<double> xs(kCount);
    for (int i = 0; i < kCount; ++i) xs[i] = row.low + (row.high - row.low) * i / (kCount - 1);
    expect_within(row, xs);
  }
}

/// Doubles with random bits: of all magnitudes, infinities and NaN among them.
std::vector<double> doubles_of_all_magnitudes(int n) {
  std::mt19937_64 engine(20261127);
  std::vector<double> xs(n);
  for (double& x : xs) x = std::bit_cast<double>(engine());
  return xs;
}

// Far from 0 trigonometric functions are the standard library's.
TEST(DoubleMath, ArgumentsOfAllMagnitudes) {
  const std::vector<double> xs = doubles_of_all_magnitudes(5'000);
  for (const Function& row : functions()) expect_within(row, xs);
}

TEST(DoubleMath, Ends) {
  constexpr double kMin = std::numeric_limits<double>::min();
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  std::vector<double> xs = {0.0,      1.0,   0.5,  1 - 0x1p-53, 1 + 0x1p-52, 2.0,    10.0,
                            INFINITY, kMin,  kMax, kTiny,       0x1p-60,     709.78, 709.79,
                            745.1,    745.2, 37.5, 38.6,        1e9};
  for (size_t i = 0, n = xs.size(); i < n; ++i) xs.push_back(-xs[i]);
  xs.push_back(NAN);
  for (const Function& row : functions()) expect_within(row, xs);
}

// Of which programs take the floor.
TEST(DoubleMath, LogarithmsOfPowersAreWholeNumbers) {
  std::vector<double> tens, twos;
  for (int n = -307; n <= 308; ++n) tens.push_back(std::stod("1e" + std::to_string(n)));
  for (int n = -1074; n <= 1023; ++n) twos.push_back(std::ldexp(1.0, n));
  const auto logs = [](auto kernel, const std::vector<double>& xs) {
    const auto n = static_cast<int64_t>(xs.size());
    DenseTensor out = blank<double>({n});
    kernel(KernelContext(), DenseTensor::from<double>(xs, {n}), &out);
    return to_doubles(out);
  };
  const Values of_tens = logs(registered<kernels::log10, double>, tens);
  for (size_t i = 0; i < tens.size(); ++i) EXPECT_EQ(of_tens[i], static_cast<int>(i) - 307);
  const Values of_twos = logs(registered<kernels::log2, double>, twos);
  for (size_t i = 0; i < twos.size(); ++i) EXPECT_EQ(of_twos[i], static_cast<int>(i) - 1074);
}

struct BinaryFunction {
  const char* name;
  void (*kernel)(const KernelContext&, const DenseTensor&, const DenseTensor&, DenseTensor*);
  Wide (*oracle)(double, double);
  double steps;
};

Wide power(double x, double y) { return powl(x, y); }
Wide angle(double x, double y) { return atan2l(x, y); }

/// As Python's, by fmod, which is exact.
Wide remainder(double x, double y) {
  const double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

void expect_within(const BinaryFunction& row, const std::vector<double>& xs,
                   const std::vector<double>& ys) {
  const auto n = static_cast<int64_t>(xs.size());
  DenseTensor out = blank<double>({n});
  row.kernel(KernelContext(), DenseTensor::from<double>(xs, {n}),
             DenseTensor::from<double>(ys, {n}), &out);
  int failures = 0;
  for (int64_t i = 0; i < n && failures < 5; ++i) {
    const double off = steps_between(out.values<double>()[i], row.oracle(xs[i], ys[i]));
    EXPECT_LE(off, row.steps) << row.name << "(" << xs[i] << ", " << ys[i] << ") is "
                              << out.values<double>()[i];
    failures += off <= row.steps ? 0 : 1;
  }
}

const std::vector<BinaryFunction>& binary_functions() {
  static const std::vector<BinaryFunction> all = {
      {"elementwise_pow", registered<kernels::elementwise_pow, double>, power, 1.2},
      {"atan2", registered<kernels::atan2, double>, angle, 2},
      {"remainder", registered<kernels::remainder, double>, remainder, 0},
  };
  return all;
}

// Powers that a double holds, of numbers of all magnitudes, and angles and remainders of numbers
// that are not far from each other.
TEST(DoubleMath, PairsOfNumbers) {
  constexpr int kCount = 50'000;
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> draw(-1, 1);
  std::vector<double> bases(kCount), exponents(kCount), xs(kCount), ys(kCount);
  for (int i = 0; i < kCount; ++i) {
    const double log = 700 * draw(engine);
    bases[i] = std::exp(i % 2 == 0 ? log : log / 700);
    exponents[i] = 740 * draw(engine) / std::log(bases[i]);
    xs[i] = std::ldexp(draw(engine), i % 90 - 45);
    ys[i] = draw(engine);
  }
  expect_within(binary_functions()[0], bases, exponents);
  for (const BinaryFunction& row : binary_functions()) expect_within(row, xs, ys);
}

TEST(DoubleMath, PairsOfEnds) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const RarePairs<double> pairs({0.0,     -0.0,  1.0,    -1.0,   2.0,        -2.0,   0.5,  -0.5,
                                 3.0,     -3.0,  2.5,    -2.5,   kInf,       -kInf,  kNan, 1e-310,
                                 -1e-310, 1e300, -1e300, 0x1p53, 0x1p53 + 2, -0x1p53});
  for (const BinaryFunction& row : binary_functions()) {
    expect_within(row, pairs.x, pairs.y);
  }
}

}  // namespace
}  // namespace phi::testing
