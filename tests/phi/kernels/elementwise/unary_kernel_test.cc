// Elementwise kernels of one input against the standard library in double precision, over the whole
// range of float, and at its special values.

#include <limits>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/unary.h"
#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/fast/trig.h"
#include "tests/phi/kernels/dense_oracle.h"
#include "tests/phi/kernels/elementwise/unary_oracle.h"

namespace phi::testing {
namespace {

double gelu(double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double gelu_tanh(double x) {
  const double z = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * z));
}
double sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

TEST(UnaryKernel, FloatIsAccurateOverItsWholeRange) {
  constexpr double kTwoUlp = 2.4e-7;
  expect_relative(registered<kernels::exp, float>, std::exp, -110, 95, kTwoUlp, "exp");
  expect_relative(registered<kernels::exp, float>, std::exp, -1e-3, 1e-3, kTwoUlp, "exp");
  expect_relative(registered<kernels::log, float>, std::log, 1e-6, 8, kTwoUlp, "log");
  expect_relative(registered<kernels::log, float>, std::log, 1, 1e30, kTwoUlp, "log");
  expect_relative(registered<kernels::log, float>, std::log, 1e-45, 1e-37, kTwoUlp, "log");
  expect_relative(registered<kernels::tanh, float>, std::tanh, -12, 12, kTwoUlp, "tanh");
  expect_relative(registered<kernels::tanh, float>, std::tanh, -1e-3, 1e-3, kTwoUlp, "tanh");
  expect_relative(registered<kernels::sigmoid, float>, sigmoid, -104, 40, 3.6e-7, "sigmoid");
  expect_relative(registered<kernels::sqrt, float>, std::sqrt, 0, 1e6, kTwoUlp, "sqrt");
  expect_relative(
      registered<kernels::rsqrt, float>, [](double x) { return 1 / std::sqrt(x); }, 1e-3, 1e6,
      kTwoUlp, "rsqrt");
  expect_relative(
      registered<kernels::silu, float>, [](double x) { return x * sigmoid(x); }, -86, 40, 4e-7,
      "silu");
  const auto exact = [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
    registered<kernels::gelu, float>(ctx, x, false, out);
  };
  expect_relative(exact, gelu, -13, 13, 1e-6, "gelu");
  expect_relative(exact, gelu, -1, 1, 1e-6, "gelu");
  const auto approximate = [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
    registered<kernels::gelu, float>(ctx, x, true, out);
  };
  expect_relative(approximate, gelu_tanh, -6, 13, 4e-6, "gelu tanh");
}

struct Function {
  const char* name;
  void (*kernel)(const KernelContext&, const DenseTensor&, DenseTensor*);
  Oracle oracle;
  double low;        // where ordinary arguments begin
  double error = 2;  // in steps of float
};

template <typename T>
std::vector<Function> functions() {
  return {
      {"exp", registered<kernels::exp, T>, [](double x) { return std::exp(x); }, -4},
      {"log", registered<kernels::log, T>, [](double x) { return std::log(x); }, 0.25},
      {"sqrt", registered<kernels::sqrt, T>, [](double x) { return std::sqrt(x); }, 0},
      {"rsqrt", registered<kernels::rsqrt, T>, [](double x) { return 1 / std::sqrt(x); }, 0.25},
      {"square", registered<kernels::square, T>, [](double x) { return x * x; }, -4},
      {"tanh", registered<kernels::tanh, T>, [](double x) { return std::tanh(x); }, -4},
      {"sigmoid", registered<kernels::sigmoid, T>, sigmoid, -4, 4},
      {"relu", registered<kernels::relu, T>, [](double x) { return x < 0 ? 0 : x; }, -4},
      {"silu", registered<kernels::silu, T>, [](double x) { return x * sigmoid(x); }, -4, 4},
      {"gelu",
       [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
         registered<kernels::gelu, T>(ctx, x, false, out);
       },
       gelu, -4, 10},
      {"gelu tanh",
       [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
         registered<kernels::gelu, T>(ctx, x, true, out);
       },
       gelu_tanh, -4, 120},
      {"pow 3",
       [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
         registered<kernels::pow, T>(ctx, x, 3, out);
       },
       [](double x) { return x * x * x; }, -4},
      {"pow 2",
       [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
         registered<kernels::pow, T>(ctx, x, 2, out);
       },
       [](double x) { return x * x; }, -4},
      {"pow 0",
       [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
         registered<kernels::pow, T>(ctx, x, 0, out);
       },
       [](double) { return 1.0; }, -4},
      {"pow -0.5",
       [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
         registered<kernels::pow, T>(ctx, x, -0.5, out);
       },
       [](double x) { return std::pow(x, -0.5); }, 0.25},
      {"scale",
       [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
         registered<kernels::scale, T>(ctx, x, 0.5, 2, true, out);
       },
       [](double x) { return x * 0.5 + 2; }, -4},
      {"scale, bias first",
       [](const KernelContext& ctx, const DenseTensor& x, DenseTensor* out) {
         registered<kernels::scale, T>(ctx, x, 0.5, 2, false, out);
       },
       [](double x) { return (x + 2) * 0.5; }, -4},
  };
}

template <typename T>
void check_all_functions() {
  for (const Function& row : functions<T>()) {
    for (const Dims& dims : {Dims(), Dims{0}, Dims{7}, Dims{3, 173}}) {
      const Values xs = random_values(dims.numel(), 11, row.low, 4);
      Values expected(xs.size());
      std::transform(xs.begin(), xs.end(), expected.begin(), row.oracle);
      DenseTensor x = tensor<T>(xs, dims);
      DenseTensor out = blank<T>(dims);
      row.kernel(KernelContext(), x, &out);
      expect_close<T>(out, expected, row.name);
      DenseTensor same = x;
      row.kernel(KernelContext(), x, &same);
      expect_close<T>(same, expected, std::string(row.name) + " in place");
    }
  }
}

TEST(UnaryKernel, AllFunctionsInFloat) { check_all_functions<float>(); }
TEST(UnaryKernel, AllFunctionsInDouble) { check_all_functions<double>(); }
TEST(UnaryKernel, AllFunctionsInFloat16) { check_all_functions<float16>(); }
TEST(UnaryKernel, AllFunctionsInBfloat16) { check_all_functions<bfloat16>(); }

TEST(UnaryKernel, SpecialValuesAreTheStandardLibrarys) {
  const double inf = INFINITY;
  const Values xs = {inf, -inf, NAN, 0, -0.0, -1, 1e-40, 3e38, -3e38, 1e-45};
  const auto n = static_cast<int64_t>(xs.size());
  const DenseTensor x = tensor<float>(xs, {n});
  DenseTensor out = blank<float>({n});
  const auto expect = [&](const char* name, float (*oracle)(float)) {
    for (int64_t i = 0; i < n; ++i) {
      const float expected = oracle(x.values<float>()[i]);
      const float got = out.values<float>()[i];
      EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)) ||
                  std::abs(got - expected) <= 2e-7f * std::abs(expected))
          << name << "(" << xs[i] << ") is " << got << ", expected " << expected;
    }
  };
  registered<kernels::exp, float>(KernelContext(), x, &out);
  expect("exp", std::exp);
  registered<kernels::log, float>(KernelContext(), x, &out);
  expect("log", std::log);
  registered<kernels::tanh, float>(KernelContext(), x, &out);
  expect("tanh", std::tanh);
  registered<kernels::sigmoid, float>(KernelContext(), x, &out);
  expect("sigmoid", [](float v) { return static_cast<float>(sigmoid(v)); });
  registered<kernels::relu, float>(KernelContext(), x, &out);
  expect("relu", [](float v) { return v < 0 ? 0 : v; });
}

TEST(UnaryKernel, IntegerPowIsExactAndWrapsAround) {
  const std::vector<int64_t> values = {0, 1, -1, 3, -7, int64_t{1} << 40};
  const DenseTensor x = DenseTensor::from<int64_t>(values, {6});
  DenseTensor out = blank<int64_t>({6});
  registered<kernels::pow, int64_t>(KernelContext(), x, 3, &out);
  EXPECT_EQ(std::vector<int64_t>(out.values<int64_t>().begin(), out.values<int64_t>().end()),
            (std::vector<int64_t>{0, 1, -1, 27, -343, 0}));
  registered<kernels::pow, int64_t>(KernelContext(), x, 0, &out);
  EXPECT_EQ(out.values<int64_t>()[0], 1);
  expect_error("integer powers",
               [&] { registered<kernels::pow, int64_t>(KernelContext(), x, 0.5, &out); });
  expect_error("integer powers",
               [&] { registered<kernels::pow, int64_t>(KernelContext(), x, -1, &out); });
}

TEST(UnaryKernel, IntegersScaleAndSquare) {
  const DenseTensor x = tensor<int32_t>({-3, 0, 5}, {3});
  DenseTensor out = blank<int32_t>({3});
  registered<kernels::scale, int32_t>(KernelContext(), x, 2, 1, true, &out);
  EXPECT_EQ(to_doubles(out), (Values{-5, 1, 11}));
  registered<kernels::square, int32_t>(KernelContext(), x, &out);
  EXPECT_EQ(to_doubles(out), (Values{9, 0, 25}));
  registered<kernels::relu, int32_t>(KernelContext(), x, &out);
  EXPECT_EQ(to_doubles(out), (Values{0, 0, 5}));
}

TEST(FastMath, ExpOrZeroIsExpDownToWhereItIsNearlyZero) {
  for (float x = -87.0f; x <= 88.0f; x += 0.01f) {
    const double expected = std::exp(static_cast<double>(x));
    ASSERT_NEAR(fast::exp_or_zero(x), expected, 2e-7 * expected) << x;
  }
  EXPECT_EQ(fast::exp_or_zero(-87.001f), 0.0f);
  EXPECT_EQ(fast::exp_or_zero(-INFINITY), 0.0f);
  EXPECT_TRUE(std::isnan(fast::exp_or_zero(NAN)));
  for (double x = -708; x <= 709; x += 0.1) {
    const double expected = std::exp(x);
    ASSERT_NEAR(fast::exp_or_zero(x), expected, 3e-16 * expected) << x;
  }
  EXPECT_EQ(fast::exp_or_zero(-708.001), 0.0);
  EXPECT_EQ(fast::exp_or_zero(-std::numeric_limits<double>::infinity()), 0.0);
}

TEST(FastMath, SinCosOfTurns) {
  for (int i = -4000; i <= 4000; ++i) {
    const float turns = static_cast<float>(i) / 1777.0f;
    float sine = 0;
    float cosine = 0;
    fast::sincos_turns(turns, &sine, &cosine);
    ASSERT_NEAR(sine, std::sin(2 * M_PI * turns), 2e-7) << turns;
    ASSERT_NEAR(cosine, std::cos(2 * M_PI * turns), 2e-7) << turns;
  }
}

// Every function at every x of `xs`, which T holds. Results that are subnormal may be products of
// subnormals.
template <typename T>
void check_at(const Values& xs) {
  const auto n = static_cast<int64_t>(xs.size());
  const DenseTensor x = tensor<T>(xs, {n});
  const double rounding = kIs16Bit<T> ? 1 : 0;
  for (const Function& row : functions<T>()) {
    DenseTensor out = blank<T>({n});
    row.kernel(KernelContext(), x, &out);
    const Values got = to_doubles(out);
    int failures = 0;
    for (int64_t i = 0; i < n && failures < 3; ++i) {
      const double expected = row.oracle(xs[i]);
      const double steps = kIs16Bit<T>                 ? rounding + row.error / 16
                           : std::is_same_v<T, double> ? 64
                                                       : row.error;
      const double lost = std::max(1.0, std::abs(xs[i])) * float_format<float>().subnormal;
      const bool near = within_steps<T>(got[i], expected, steps) ||
                        std::abs(got[i] - expected) <= row.error * lost;
      EXPECT_TRUE(near) << row.name << "(" << xs[i] << ") in " << name_of(dtype_of<T>()) << " is "
                        << got[i] << ", expected " << expected;
      failures += near ? 0 : 1;
    }
  }
}

TEST(UnaryKernel, RareFloats) {
  check_at<float>(rare_floats<float>());
  check_at<double>(rare_floats<double>());
  check_at<float16>(rare_floats<float16>());
  check_at<bfloat16>(rare_floats<bfloat16>());
}

TEST(UnaryKernel, EveryNumberOf16Bits) {
  check_at<float16>(every_number<float16>());
  check_at<bfloat16>(every_number<bfloat16>());
}

TEST(UnaryKernel, RandomFloatsOfAllMagnitudes) {
  constexpr uint32_t kSeed = 20261122;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  check_at<float>(random_bits_of_float(200'000, kSeed));
}

// -0 stays where the function is odd, and is no negative number to sqrt and relu.
TEST(UnaryKernel, SignsOfZero) {
  for (const Function& row : functions<float>()) {
    DenseTensor out = blank<float>({1});
    row.kernel(KernelContext(), tensor<float>({-0.0}, {1}), &out);
    const double expected = row.oracle(-0.0);
    if (expected != 0 || std::string_view(row.name) == "relu") continue;
    EXPECT_EQ(std::signbit(to_doubles(out)[0]), std::signbit(expected)) << row.name;
  }
}

TEST(UnaryKernel, RareIntegers) {
  const std::vector<int64_t> xs = rare_integers<int64_t>();
  const DenseTensor x = DenseTensor::from<int64_t>(xs, {static_cast<int64_t>(xs.size())});
  DenseTensor squares = blank_like(x.meta()), rectified = squares.clone(), scaled = squares.clone();
  registered<kernels::square, int64_t>(KernelContext(), x, &squares);
  registered<kernels::relu, int64_t>(KernelContext(), x, &rectified);
  registered<kernels::scale, int64_t>(KernelContext(), x, 3, -1, true, &scaled);
  for (size_t i = 0; i < xs.size(); ++i) {
    const auto bits = static_cast<uint64_t>(xs[i]);
    EXPECT_EQ(squares.values<int64_t>()[i], static_cast<int64_t>(bits * bits)) << xs[i];
    EXPECT_EQ(rectified.values<int64_t>()[i], std::max<int64_t>(xs[i], 0));
    EXPECT_EQ(scaled.values<int64_t>()[i], static_cast<int64_t>(3 * bits - 1)) << xs[i];
  }
}

}  // namespace
}  // namespace phi::testing
