// Functions of complex numbers that devices share, beside the standard library's: values within a
// few roundings, the same branches, infinities and NaN.
#include "phi/kernels/functors/fast/complex_math.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace phi {
namespace {

using Complex = std::complex<double>;

struct Function {
  const char* name;
  Complex (*ours)(Complex);
  Complex (*standard)(const Complex&);
};

#define PHI_BOTH_(name)                                                                           \
  {                                                                                               \
#name, [](Complex z) -> Complex { return fast::name(phi::Complex<double>(z)); }, &std::name < \
                                                                                         double>  \
  }
const Function kFunctions[] = {PHI_BOTH_(acos), PHI_BOTH_(acosh), PHI_BOTH_(asin), PHI_BOTH_(asinh),
                               PHI_BOTH_(atan), PHI_BOTH_(atanh), PHI_BOTH_(cos),  PHI_BOTH_(cosh),
                               PHI_BOTH_(exp),  PHI_BOTH_(log),   PHI_BOTH_(sin),  PHI_BOTH_(sinh),
                               PHI_BOTH_(sqrt), PHI_BOTH_(tan),   PHI_BOTH_(tanh)};
#undef PHI_BOTH_

TEST(ComplexMath, IsWithinRoundingOfTheStandardLibrary) {
  std::mt19937 engine(11);
  std::uniform_real_distribution<double> sign(-1, 1), exponent(-8, 2.5);
  for (const Function& f : kFunctions) {
    for (int k = 0; k < 20000; ++k) {
      const Complex z(sign(engine) * std::pow(10, exponent(engine)),
                      sign(engine) * std::pow(10, exponent(engine)));
      const Complex expected = f.standard(z);
      ASSERT_LE(std::abs(f.ours(z) - expected), 2e-15 * std::abs(expected)) << f.name << z;
    }
  }
}

/// Both NaN, or as near as rounding allows; infinities are equal.
bool is_same(double got, double expected) {
  if (got != got || expected != expected) return got != got && expected != expected;
  return got == expected || std::fabs(got - expected) <= 1e-14 * std::fabs(expected) + 1e-307;
}

// Zeros of both signs choose the side of a branch cut; where a result is 0, C leaves its sign open
// in places.
TEST(ComplexMath, HasTheStandardLibrarysBranchesAndLimits) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::vector<double> parts = {0.0, -0.0, 1,    -1,    0.5,  -2,    3.75,  kInf,   -kInf,
                                     NAN, 700,  -700, 709.5, 1e16, -1e-9, 1e300, -1e300, 1e-300};
  for (const Function& f : kFunctions) {
    for (const double re : parts) {
      for (const double im : parts) {
        const Complex expected = f.standard({re, im});
        const Complex got = f.ours({re, im});
        EXPECT_TRUE(is_same(got.real(), expected.real()) && is_same(got.imag(), expected.imag()))
            << f.name << Complex(re, im) << " is " << got << ", not " << expected;
      }
    }
  }
}

// C++ leaves powers of 0 to logarithms: only some have a value.
TEST(ComplexMath, PowersAreTheStandardLibrarysAndThoseOfZeroTheirLimits) {
  const auto ours = [](Complex x, Complex y) -> Complex {
    return fast::pow(phi::Complex<double>(x), phi::Complex<double>(y));
  };
  for (const Complex x : {Complex(1.5, -0.5), Complex(-2, 0.25), Complex(0, 3), Complex(-1, 0)}) {
    for (const Complex y : {Complex(2, 0), Complex(3, 0), Complex(-1.5, 0.75), Complex(0, 0)}) {
      const Complex expected = std::pow(x, y);
      EXPECT_LE(std::abs(ours(x, y) - expected), 4e-15 * std::abs(expected)) << x << y;
    }
  }
  EXPECT_EQ(ours(0, 0), Complex(1, 0));
  EXPECT_EQ(ours(0, {0.5, 3}), Complex(0, 0));
  EXPECT_TRUE(std::isnan(ours(0, -1).real()));
  EXPECT_TRUE(std::isnan(ours(0, {0, 2}).real()));
}

TEST(ComplexMath, NarrowNumbersAreRoundedOnce) {
  const Complex wide = std::sinh(Complex(1.5, -80.25));
  const auto narrow = fast::sinh(phi::Complex<float>(1.5f, -80.25f));
  EXPECT_EQ(narrow.real(), static_cast<float>(wide.real()));
  EXPECT_EQ(narrow.imag(), static_cast<float>(wide.imag()));
}

}  // namespace
}  // namespace phi
