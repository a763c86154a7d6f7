// Complex numbers beside the standard library's: the same arithmetic, infinities, NaN and limits.
#include "phi/common/complex.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace phi {
namespace {

template <typename R>
class ComplexNumbers : public ::testing::Test {};
using Parts = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexNumbers, Parts);

template <typename R>
constexpr R kInfinity = std::numeric_limits<R>::infinity();

/// Within some roundings of the larger part.
template <typename R>
void expect_near(Complex<R> got, std::complex<R> expected, const char* what) {
  const R bound = 8 * std::numeric_limits<R>::epsilon() * std::abs(expected);
  EXPECT_NEAR(got.real(), expected.real(), bound) << what;
  EXPECT_NEAR(got.imag(), expected.imag(), bound) << what;
}

TYPED_TEST(ComplexNumbers, AreComputedWithAsTheStandardLibrarysAre) {
  using C = std::complex<TypeParam>;
  using Ours = Complex<TypeParam>;
  std::mt19937 engine(5);
  std::uniform_real_distribution<TypeParam> part(-4, 4);
  for (int k = 0; k < 1000; ++k) {
    const C x(part(engine), part(engine)), y(part(engine), part(engine));
    const Ours a = x, b = y;
    const TypeParam r = part(engine);
    expect_near<TypeParam>(a + b, x + y, "+");
    expect_near<TypeParam>(a - b, x - y, "-");
    expect_near<TypeParam>(-a, -x, "negative");
    EXPECT_NEAR(abs(a * b - Ours(x * y)), 0, 1e2 * std::numeric_limits<TypeParam>::epsilon());
    EXPECT_NEAR(abs(a / b - Ours(x / y)), 0,
                8 * std::numeric_limits<TypeParam>::epsilon() * std::abs(x / y));
    expect_near<TypeParam>(a * r, x * r, "times a real number");
    expect_near<TypeParam>(r * a, r * x, "a real number times");
    expect_near<TypeParam>(a / r, x / r, "by a real number");
    EXPECT_NEAR(abs(r / b - Ours(r / y)), 0,
                8 * std::numeric_limits<TypeParam>::epsilon() * std::abs(r / y));
    expect_near<TypeParam>(a + r, x + r, "plus a real number");
    expect_near<TypeParam>(conj(a), std::conj(x), "conjugate");
    EXPECT_EQ(abs(a), std::abs(x));
    EXPECT_NEAR(norm(a), std::norm(x), 1e-5);
    EXPECT_EQ(a.real(), x.real());
    EXPECT_EQ(a.imag(), x.imag());
    EXPECT_TRUE(a == a && !(a != a) && a != b && Ours(r) == r);
    Ours sum = a;
    sum += b;
    sum *= r;
    sum -= a;
    sum *= b;
    sum /= r;
    EXPECT_EQ(sum, ((a + b) * r - a) * b / r);
    sum /= a;
    EXPECT_EQ(sum, (((a + b) * r - a) * b / r) / a);
    EXPECT_EQ(static_cast<C>(a), x);
  }
}

TEST(ComplexNumbers, BecomeWiderByThemselvesAndNarrowerWhereAsked) {
  const Complex<float> narrow(0.5f, -2.0f);
  const Complex<double> wide = narrow;
  EXPECT_EQ(wide, Complex<double>(0.5, -2));
  EXPECT_EQ(Complex<float>(wide), narrow);
  static_assert(!std::is_convertible_v<Complex<double>, Complex<float>>);
}

/// Whether both are NaN, infinite with one sign, or near.
template <typename R>
bool is_same(R got, R expected) {
  if (got != got || expected != expected) return got != got && expected != expected;
  if (std::isinf(got) || std::isinf(expected)) return got == expected;
  return std::fabs(got - expected) <= 32 * std::numeric_limits<R>::epsilon() * std::fabs(expected) +
                                          std::numeric_limits<R>::denorm_min();
}

// Of each two parts that may be infinite, NaN, zero or finite: C's rules leave signs of zeros open.
TYPED_TEST(ComplexNumbers, HaveTheStandardLibrarysInfinities) {
  using R = TypeParam;
  const std::vector<R> parts = {0, R(-0.0), 1, -2, kInfinity<R>, -kInfinity<R>, R(NAN)};
  for (const R a : parts) {
    for (const R b : parts) {
      for (const R c : parts) {
        for (const R d : parts) {
          const std::complex<R> x(a, b), y(c, d);
          const auto look = [&](const char* what, Complex<R> got, std::complex<R> expected) {
            EXPECT_TRUE(is_same(got.real(), expected.real()) &&
                        is_same(got.imag(), expected.imag()))
                << x << what << y << " gives " << std::complex<R>(got) << ", not " << expected;
          };
          look(" times ", Complex<R>(x) * Complex<R>(y), x * y);
          look(" by ", Complex<R>(x) / Complex<R>(y), x / y);
        }
      }
    }
  }
}

TYPED_TEST(ComplexNumbers, AreDividedWhereSquaresWouldBeOutOfRange) {
  using R = TypeParam;
  using Limits = std::numeric_limits<R>;
  const R large = Limits::max() / 4, small = Limits::min() * 4;
  for (const R size : {large, small}) {
    const Complex<R> one = Complex<R>(size, size) / Complex<R>(size, size);
    EXPECT_TRUE(is_same(one.real(), R(1)) && is_same(one.imag(), R(0)));
    const Complex<R> turned = Complex<R>(-size, size) / Complex<R>(size, size);
    EXPECT_TRUE(is_same(turned.real(), R(0)) && is_same(turned.imag(), R(1)));
    const Complex<R> aside = Complex<R>(size, size) / Complex<R>(size / 2, 1);
    EXPECT_TRUE(std::isfinite(aside.real()) && std::isfinite(aside.imag()));
  }
  EXPECT_EQ(Complex<R>(1, 0) / Complex<R>(large, small), Complex<R>(1 / large, 0));
}

}  // namespace
}  // namespace phi
