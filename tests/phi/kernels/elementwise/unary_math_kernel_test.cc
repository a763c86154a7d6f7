// Elementary and special functions, rounding and activations against the standard library in double
// precision: ordinary ranges closely, special values exactly.
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/activation.h"
#include "phi/generated/kernels/unary_math.h"
#include "tests/phi/kernels/dense_oracle.h"
#include "tests/phi/kernels/elementwise/unary_oracle.h"

namespace phi::testing {
namespace {

struct Range {
  const char* name;
  void (*kernel)(const KernelContext&, const DenseTensor&, DenseTensor*);
  Oracle oracle;
  double low;
  double high;
  double limit = 3e-7;
};

#define RANGE_(name, low, high)                                                                 \
  {                                                                                             \
#name, registered < kernels::name, float>, [](double x) { return std::name(x); }, low, high \
  }

const std::vector<Range>& ranges() {
  static const std::vector<Range> all = {
      RANGE_(acos, -1, 1),        RANGE_(acosh, 1, 50),       RANGE_(asin, -1, 1),
      RANGE_(asinh, -1e6, 1e6),   RANGE_(asinh, -2, 2),       RANGE_(atan, -50, 50),
      RANGE_(atanh, -1, 1),       RANGE_(cosh, -89, 89),      RANGE_(erf, -6, 6),
      RANGE_(expm1, -20, 88),     RANGE_(expm1, -1e-3, 1e-3), RANGE_(log10, 1e-3, 1e6),
      RANGE_(log1p, -0.999, 1e4), RANGE_(log1p, -1e-3, 1e-3), RANGE_(log2, 1e-3, 1e6),
      RANGE_(sinh, -89, 89),      RANGE_(sinh, -1e-3, 1e-3),  RANGE_(sin, -3, 3),
      RANGE_(cos, -1.5, 1.5),     RANGE_(tan, -1.5, 1.5),     RANGE_(ceil, -9, 9),
      RANGE_(floor, -9, 9),       RANGE_(trunc, -9, 9),       RANGE_(lgamma, 2.5, 1e4),
  };
  return all;
}
#undef RANGE_

TEST(UnaryMathKernel, FloatIsAccurateOverOrdinaryRanges) {
  for (const Range& row : ranges()) {
    expect_relative(row.kernel, row.oracle, row.low, row.high, row.limit, row.name);
  }
}

// NaN, infinities, both zeros, subnormal and huge numbers come out as from the standard library.
TEST(UnaryMathKernel, SpecialValues) {
  const Values xs = {NAN,   INFINITY, -INFINITY, 0.0,  -0.0,  1.0,  -1.0,  2.5, -2.5,
                     1e-30, -1e-30,   1e-42,     1e30, -1e30, 88.9, -88.9, 1e4, -1e4};
  const auto n = static_cast<int64_t>(xs.size());
  const DenseTensor x = tensor<float>(xs, {n});
  const Values exact = to_doubles(x);
  for (const Range& row : ranges()) {
    DenseTensor out = blank<float>({n});
    row.kernel(KernelContext(), x, &out);
    const Values got = to_doubles(out);
    for (size_t i = 0; i < xs.size(); ++i) {
      const auto expected = static_cast<float>(row.oracle(exact[i]));
      const bool same = std::isnan(expected)
                            ? std::isnan(got[i])
                            : got[i] == expected || std::abs(got[i] / expected - 1) < 1e-6;
      EXPECT_TRUE(same) << row.name << "(" << xs[i] << ") is " << got[i] << " for " << expected;
      if (expected == 0) {
        EXPECT_EQ(std::signbit(got[i]), std::signbit(expected)) << row.name << "(" << xs[i] << ")";
      }
    }
  }
}

template <typename Name, typename T = float, typename... Attributes>
Values values_of(const Values& xs, const Attributes&... attributes) {
  const auto n = static_cast<int64_t>(xs.size());
  DenseTensor out = blank<T>({n});
  registered<Name, T>(KernelContext(), tensor<T>(xs, {n}), attributes..., &out);
  return to_doubles(out);
}

// Figures of M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 1964, and of
// mpmath.
TEST(UnaryMathKernel, SpecialFunctions) {
  constexpr double kTiny = 1e-13;
  const auto expect = [](const Values& got, const Values& expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(got[i] / expected[i], 1, kTiny) << i << ": " << got[i];
    }
  };
  expect(values_of<kernels::digamma, double>({0.5, 1, -1.5, 100}),
         {-1.9635100260214235, -0.57721566490153286, 0.70315664064524319, 4.6001618527380874});
  expect(values_of<kernels::polygamma, double>({0.75, -0.75, 5.5}, 1),
         {2.5418796476716065, 18.975106932284888, 0.19934238698962766});
  expect(values_of<kernels::polygamma, double>(
             {0.5, 9.99, 10, 50, 1e10, -1e-8, -0.25, -3.3, -100.7}, 1),
         {4.9348022005446793, 0.10527695014824178, 0.10516633568168575, 0.020201333226697126,
          1.00000000005e-10, 1.0000000000000000e16, 18.541879647671606, 14.817739525515929,
          15.069532360278807});
  expect(values_of<kernels::polygamma, double>({-20.3, 30}, 2),
         {68.835233657837307, -0.0011487652037285998});
  expect(values_of<kernels::erfinv, double>({0.5, -0.999}),
         {0.47693627620446987, -2.3267537655135247});
  expect(values_of<kernels::i0, double>({1, 8.5}), {1.2660658777520084, 683.16192699011557});
  expect(values_of<kernels::i1, double>({1, -8.5}), {0.56515910399248503, -641.61990254006681});
  expect(values_of<kernels::i0e, double>({300}), {0.023042558415085462});
  expect(values_of<kernels::i1e, double>({0.3}), {0.11237756063983882});
}

/// Floats of both signs from the smallest to the largest, rare ones, and some that are close to
/// each other, about the numbers where functions change their form.
Values floats_of_all_sizes() {
  Values out = rare_floats<float>();
  for (double x = 1e-45; x < 3e38; x *= 1.07) out.insert(out.end(), {x, -x});
  for (double x = -110; x < 110; x += 0.0973) out.push_back(x);
  for (const double x : {6.0, 8.0, 600.0}) {
    for (int step = -20; step <= 20; ++step) {
      const double near = x * (1 + step * 0x1p-23);
      out.insert(out.end(), {near, -near});
    }
  }
  return to_doubles(tensor<float>(out, {static_cast<int64_t>(out.size())}));
}

/// The float kernel, which takes fewer terms, beside the double one.
template <typename Name, typename... Attributes>
void expect_as_in_double(const std::string& name, const Attributes&... attributes) {
  const Values xs = floats_of_all_sizes();
  const Values got = values_of<Name, float>(xs, attributes...);
  const Values expected = values_of<Name, double>(xs, attributes...);
  for (size_t i = 0; i < xs.size(); ++i)
    expect_steps<float>(got[i], expected[i], 1, name + "(" + std::to_string(xs[i]) + ")");
}

TEST(UnaryMathKernel, SpecialFunctionsOfFloatsAreThoseOfDouble) {
  expect_as_in_double<kernels::i0>("i0");
  expect_as_in_double<kernels::i0e>("i0e");
  expect_as_in_double<kernels::i1>("i1");
  expect_as_in_double<kernels::i1e>("i1e");
  for (const int n : {1, 2, 3, 10, 40})
    expect_as_in_double<kernels::polygamma>("polygamma " + std::to_string(n), n);
}

TEST(UnaryMathKernel, EndsOfSpecialFunctions) {
  EXPECT_EQ(values_of<kernels::digamma>({0.0})[0], -INFINITY);
  EXPECT_TRUE(std::isnan(values_of<kernels::digamma>({-3.0})[0]));
  // The distance to a whole number is exact near 0, too.
  const double near_zero = values_of<kernels::digamma, double>({-1e-30})[0];
  EXPECT_NEAR(near_zero, 1e30, 1e15);
  EXPECT_NEAR(values_of<kernels::digamma>({-1e-30})[0], 1e30, 1e23);
  EXPECT_EQ(values_of<kernels::polygamma>({INFINITY}, 1)[0], 0);
  EXPECT_EQ(values_of<kernels::polygamma>({-2.0}, 1)[0], INFINITY);
  EXPECT_EQ((values_of<kernels::polygamma, double>({INFINITY}, 1)[0]), 0);
  for (const double pole : {0.0, -0.0, -2.0, -1e17, -HUGE_VAL}) {
    EXPECT_EQ((values_of<kernels::polygamma, double>({pole}, 1)[0]), INFINITY) << pole;
  }
  EXPECT_TRUE(std::isnan(values_of<kernels::polygamma, double>({NAN}, 1)[0]));
  EXPECT_EQ(values_of<kernels::erfinv>({1.0})[0], INFINITY);
  EXPECT_TRUE(std::isnan(values_of<kernels::erfinv>({1.5})[0]));
  EXPECT_EQ(values_of<kernels::i0>({-INFINITY})[0], INFINITY);
  EXPECT_EQ(values_of<kernels::i1>({-INFINITY})[0], -INFINITY);
  EXPECT_EQ(values_of<kernels::i0e>({INFINITY})[0], 0);
}

TEST(UnaryMathKernel, RoundsHalvesToEven) {
  EXPECT_EQ(values_of<kernels::round>({0.5, 1.5, -2.5, 8388609}, 0), (Values{0, 2, -2, 8388609}));
  EXPECT_EQ((values_of<kernels::round, double>({0.125, -0.375}, 2)), (Values{0.12, -0.38}));
  EXPECT_EQ(values_of<kernels::round>({15, 25, -17, 1e30}, -1), (Values{20, 20, -20, 1e30f}));
  EXPECT_EQ((values_of<kernels::round, int32_t>({15, 25, -17, -15, 4}, -1)),
            (Values{20, 20, -20, -20, 0}));
  EXPECT_EQ((values_of<kernels::round, int8_t>({100, -7}, -3)), (Values{0, 0}));
  EXPECT_EQ((values_of<kernels::round, int64_t>({15, -7}, -30)), (Values{0, 0}));
  EXPECT_EQ(values_of<kernels::round>({15, -7}, -50), (Values{0, 0}));
  EXPECT_EQ(values_of<kernels::round>({15, -7, 0}, 50), (Values{15, -7, 0}));
}

double log_of_sigmoid(double x) { return (x < 0 ? x : 0) - std::log1p(std::exp(-std::abs(x))); }

TEST(ActivationKernel, LogarithmsOfSigmoidsAreAccurateInBothTails) {
  expect_relative(registered<kernels::logsigmoid, float>, log_of_sigmoid, -90, 86, 3e-7,
                  "logsigmoid");
  const auto softplus = [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
    registered<kernels::softplus, float>(ctx, x, 1.0f, 20.0f, out);
  };
  expect_relative(
      softplus, [](double x) { return -log_of_sigmoid(-x); }, -86, 90, 3e-7, "softplus");
}

// Where an infinity meets a slope of 0 or a difference of infinities.
TEST(ActivationKernel, Infinities) {
  const Values ends = {INFINITY, -INFINITY};
  EXPECT_EQ(values_of<kernels::softplus>(ends, 1.0f, 20.0f), (Values{INFINITY, 0}));
  EXPECT_EQ(values_of<kernels::softshrink>(ends, 0.5f), (Values{INFINITY, -INFINITY}));
  EXPECT_EQ(values_of<kernels::thresholded_relu>(ends, 1.0f, 0.25f), (Values{INFINITY, 0.25}));
  EXPECT_EQ(values_of<kernels::logsigmoid>(ends), (Values{0, -INFINITY}));
  EXPECT_EQ(values_of<kernels::hardtanh>(ends, -2.0f, 3.0f), (Values{3, -2}));
  EXPECT_EQ(values_of<kernels::selu>(ends, 1.0f, 2.0f), (Values{INFINITY, -2}));
}

}  // namespace
}  // namespace phi::testing
