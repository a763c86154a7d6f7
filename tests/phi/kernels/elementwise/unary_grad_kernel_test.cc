// Gradients of elementwise functions against differences, and at the ends of their ranges.

#include <limits>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/unary.h"
#include "tests/phi/kernels/gradient_check.h"

namespace phi::testing {
namespace {

enum class Kept { kInput, kOutput };

/// An op from its forward and gradient kernels, given as functions of (x, out) and (kept, g, dx).
template <typename Forward, typename Gradient>
struct Unary {
  Forward run;
  Gradient run_gradient;
  Kept kept;

  template <typename T>
  DenseTensor forward(const Tensors& in) const {
    DenseTensor out = blank<T>(in[0].dims());
    run.template operator()<T>(in[0], &out);
    return out;
  }
  template <typename T>
  Tensors gradients(const Tensors& in, const DenseTensor& out, const DenseTensor& out_grad) const {
    Tensors grads = {blank<T>(in[0].dims())};
    run_gradient.template operator()<T>(kept == Kept::kInput ? in[0] : out, out_grad, &grads[0]);
    return grads;
  }
};

template <typename Forward, typename Gradient>
Unary(Forward, Gradient, Kept) -> Unary<Forward, Gradient>;

#define UNARY(name, kept)                                                             \
  Unary {                                                                             \
    []<typename T>(const DenseTensor& x, DenseTensor* out) {                          \
      registered<kernels::name, T>(KernelContext(), x, out);                          \
    },                                                                                \
        []<typename T>(const DenseTensor& a, const DenseTensor& g, DenseTensor* dx) { \
          registered<kernels::name##_grad, T>(KernelContext(), a, g, dx);             \
        },                                                                            \
        Kept::kept                                                                    \
  }

template <typename Op>
void check(const Op& op, double low, double high, const char* what) {
  for (const Dims& dims : {Dims(), Dims{0}, Dims{7}, Dims{3, 91}}) {
    check_gradients(op, {{dims, low, high}}, what);
  }
}

TEST(UnaryGradKernel, EqualsFiniteDifferences) {
  check(UNARY(sqrt, kOutput), 0.5, 4, "sqrt");
  check(UNARY(rsqrt, kOutput), 0.75, 4, "rsqrt");
  check(UNARY(square, kInput), -3, 3, "square");
  check(UNARY(tanh, kOutput), -2, 2, "tanh");
  check(UNARY(sigmoid, kOutput), -3, 3, "sigmoid");
  check(UNARY(silu, kInput), -4, 4, "silu");
}

TEST(UnaryGradKernel, ReluPassesWherePositive) {
  const DenseTensor out = tensor<float>({0, 2, 0, 1e-30}, {4});
  const DenseTensor g = tensor<float>({5, 6, -7, 8}, {4});
  DenseTensor dx = blank<float>({4});
  registered<kernels::relu_grad, float>(KernelContext(), out, g, &dx);
  EXPECT_EQ(to_doubles(dx), (Values{0, 6, 0, 8}));
}

TEST(UnaryGradKernel, GeluOfBothForms) {
  for (const bool approximate : {false, true}) {
    const auto forward = [=]<typename T>(const DenseTensor& x, DenseTensor* out) {
      registered<kernels::gelu, T>(KernelContext(), x, approximate, out);
    };
    const auto gradient = [=]<typename T>(const DenseTensor& x, const DenseTensor& g,
                                          DenseTensor* dx) {
      registered<kernels::gelu_grad, T>(KernelContext(), x, g, approximate, dx);
    };
    check(Unary{forward, gradient, Kept::kInput}, -4, 4, approximate ? "gelu tanh" : "gelu");
  }
}

TEST(UnaryGradKernel, PowOfEveryExponent) {
  for (const double y : {0.0, 1.0, 2.0, 3.0, -1.0, 0.5, -0.5, 2.25}) {
    const auto forward = [=]<typename T>(const DenseTensor& x, DenseTensor* out) {
      registered<kernels::pow, T>(KernelContext(), x, y, out);
    };
    const auto gradient = [=]<typename T>(const DenseTensor& x, const DenseTensor& g,
                                          DenseTensor* dx) {
      registered<kernels::pow_grad, T>(KernelContext(), x, g, y, dx);
    };
    check(Unary{forward, gradient, Kept::kInput}, 0.75, 2, "pow");
  }
  DenseTensor dx = blank<float>({1});
  const DenseTensor zero = tensor<float>({0}, {1});
  registered<kernels::pow_grad, float>(KernelContext(), zero, tensor<float>({3}, {1}), 0, &dx);
  EXPECT_EQ(to_doubles(dx), Values{0});
  registered<kernels::pow_grad, float>(KernelContext(), zero, tensor<float>({3}, {1}), 1, &dx);
  EXPECT_EQ(to_doubles(dx), Values{3});
}

// Far out the activations are x or 0, and so are their slopes 1 or 0.
TEST(UnaryGradKernel, ActivationsAtTheirEnds) {
  const auto check_ends = []<typename T>() {
    const DenseTensor x = tensor<T>({INFINITY, 1e30, 50, -50, -1e30, -INFINITY, NAN}, {7});
    const DenseTensor g = tensor<T>(Values(7, 2.0), {7});
    const Values ends = {2, 2, 2, 0, 0, 0, NAN};
    DenseTensor dx = blank<T>({7});
    registered<kernels::silu_grad, T>(KernelContext(), x, g, &dx);
    expect_close<T>(dx, ends, "silu");
    for (const bool approximate : {false, true}) {
      registered<kernels::gelu_grad, T>(KernelContext(), x, g, approximate, &dx);
      expect_close<T>(dx, ends, "gelu");
    }
  };
  check_ends.operator()<float>();
  check_ends.operator()<double>();
}

TEST(UnaryGradKernel, MayOverwriteTheGradientThatCame) {
  const DenseTensor x = tensor<bfloat16>(random_values(600, 1), {600});
  DenseTensor g = tensor<bfloat16>(random_values(600, 2), {600});
  DenseTensor apart = blank<bfloat16>({600});
  registered<kernels::silu_grad, bfloat16>(KernelContext(), x, g, &apart);
  registered<kernels::silu_grad, bfloat16>(KernelContext(), x, g, &g);
  EXPECT_EQ(to_doubles(g), to_doubles(apart));
}

/// A gradient kernel, and what it means in double: the slope at what is kept.
struct Slope {
  const char* name;
  void (*kernel)(const KernelContext&, const DenseTensor&, const DenseTensor&, DenseTensor*);
  double (*oracle)(double kept, double g);
  double highest = INFINITY;  // of |kept|, where it is an output with a bound
  /// The terms of a slope that may cancel, all taken positive; null: it is a product.
  double (*terms)(double kept) = nullptr;
  double error = 4;  // in steps of the computing type, of the terms
};

double sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
// The slope of an activation is that of relu far out, infinities included.
double far_out(double x) { return x > 0 ? 1 : 0; }
double silu_slope(double x) {
  if (std::abs(x) > 1000) return far_out(x);
  return sigmoid(x) * (1 + x * (1 - sigmoid(x)));
}
double gelu_slope(double x) {
  if (std::abs(x) > 100) return far_out(x);
  return 0.5 * std::erfc(-x / std::sqrt(2.0)) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}
double gelu_tanh_slope(double x) {
  if (std::abs(x) > 20) return far_out(x);
  const double k = 2 * std::sqrt(2 / M_PI);
  const double s = sigmoid(k * (x + 0.044715 * x * x * x));
  return s + x * s * (1 - s) * k * (1 + 3 * 0.044715 * x * x);
}
// Their terms, as above.
double silu_terms(double x) {
  if (std::abs(x) > 1000) return far_out(x);
  return sigmoid(x) * (1 + std::abs(x) * (1 - sigmoid(x)));
}
double gelu_terms(double x) {
  if (std::abs(x) > 100) return far_out(x);
  const double slope = gelu_slope(x);
  return slope + 2 * std::max(0.0, -x) * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}
double gelu_tanh_terms(double x) {
  if (std::abs(x) > 20) return far_out(x);
  const double s = sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
  return x < 0 ? 2 * s - gelu_tanh_slope(x) : gelu_tanh_slope(x);
}

template <typename T>
std::vector<Slope> slopes() {
  return {
      {"sqrt", registered<kernels::sqrt_grad, T>,
       [](double out, double g) { return g * 0.5 / out; }},
      {"rsqrt", registered<kernels::rsqrt_grad, T>,
       [](double out, double g) { return -0.5 * g * out * out * out; }},
      {"square", registered<kernels::square_grad, T>, [](double x, double g) { return 2 * x * g; }},
      {"tanh", registered<kernels::tanh_grad, T>,
       [](double out, double g) { return g * (1 - out * out); }, 1,
       [](double out) { return 1 + out * out; }},
      {"sigmoid", registered<kernels::sigmoid_grad, T>,
       [](double out, double g) { return g * out * (1 - out); }, 1},
      {"relu", registered<kernels::relu_grad, T>,
       [](double out, double g) { return out > 0 ? g : 0; }},
      {"silu", registered<kernels::silu_grad, T>,
       [](double x, double g) { return g * silu_slope(x); }, INFINITY, silu_terms, 8},
      {"gelu",
       [](const KernelContext& ctx, const DenseTensor& x, const DenseTensor& g, DenseTensor* dx) {
         registered<kernels::gelu_grad, T>(ctx, x, g, false, dx);
       },
       [](double x, double g) { return g * gelu_slope(x); }, INFINITY, gelu_terms, 24},
      {"gelu tanh",
       [](const KernelContext& ctx, const DenseTensor& x, const DenseTensor& g, DenseTensor* dx) {
         registered<kernels::gelu_grad, T>(ctx, x, g, true, dx);
       },
       [](double x, double g) { return g * gelu_tanh_slope(x); }, INFINITY, gelu_tanh_terms, 240},
      {"pow 3",
       [](const KernelContext& ctx, const DenseTensor& x, const DenseTensor& g, DenseTensor* dx) {
         registered<kernels::pow_grad, T>(ctx, x, g, 3, dx);
       },
       [](double x, double g) { return g * 3 * std::pow(x, 2.0); }},
      {"pow -0.5",
       [](const KernelContext& ctx, const DenseTensor& x, const DenseTensor& g, DenseTensor* dx) {
         registered<kernels::pow_grad, T>(ctx, x, g, -0.5, dx);
       },
       [](double x, double g) { return g * -0.5 * std::pow(x, -1.5); }},
      {"pow 0",
       [](const KernelContext& ctx, const DenseTensor& x, const DenseTensor& g, DenseTensor* dx) {
         registered<kernels::pow_grad, T>(ctx, x, g, 0, dx);
       },
       [](double, double) { return 0.0; }},
  };
}

// Beside ordinary gradients and those that are not finite. What cancels, and products that are
// subnormal, are as far off as float's own numbers there.
template <typename T>
void check_rare_slopes() {
  for (const double g : {1.0, -2.0, double{INFINITY}, double{NAN}}) {
    for (const Slope& row : slopes<T>()) {
      Values kept;
      for (double v : rare_floats<T>()) {
        if (!(std::abs(v) > row.highest)) kept.push_back(v);
      }
      const Dims dims{static_cast<int64_t>(kept.size())};
      DenseTensor dx = blank<T>(dims);
      row.kernel(KernelContext(), tensor<T>(kept, dims), tensor<T>(Values(kept.size(), g), dims),
                 &dx);
      const Values got = to_doubles(dx);
      for (size_t i = 0; i < kept.size(); ++i) {
        const double expected = row.oracle(kept[i], g);
        if (std::isfinite(expected) && std::abs(got[i] - expected) <= 1e-6) continue;
        const double least = float_format<compute_t<T>>().normal;
        if (std::isinf(g) && std::abs(row.oracle(kept[i], 1)) < least) continue;  // 0 times inf
        expect_steps<T>(got[i], expected, std::is_same_v<T, double> ? 64 : 8,
                        std::string(row.name) + " at " + std::to_string(kept[i]) + " times " +
                            std::to_string(g));
      }
    }
  }
}

TEST(UnaryGradKernel, RareFloats) {
  check_rare_slopes<float>();
  check_rare_slopes<double>();
  check_rare_slopes<float16>();
  check_rare_slopes<bfloat16>();
}

// Every slope at each of `kept`, which T holds.
template <typename T>
void sweep_slopes(const Values& all) {
  constexpr FloatFormat kFormat = float_format<T>(), kCompute = float_format<compute_t<T>>();
  for (const double g : {1.0, -2.5}) {
    for (const Slope& row : slopes<T>()) {
      Values kept;
      for (double v : all) {
        if (!(std::abs(v) > row.highest)) kept.push_back(v);
      }
      const Dims dims{static_cast<int64_t>(kept.size())};
      DenseTensor dx = blank<T>(dims);
      row.kernel(KernelContext(), tensor<T>(kept, dims), tensor<T>(Values(kept.size(), g), dims),
                 &dx);
      const Values got = to_doubles(dx);
      int failures = 0;
      for (size_t i = 0; i < kept.size() && failures < 3; ++i) {
        const double expected = row.oracle(kept[i], g);
        const double terms = row.terms ? std::abs(g) * row.terms(kept[i]) : std::abs(expected);
        const double rounded =
            kIs16Bit<T> ? std::max(std::abs(expected) * kFormat.epsilon, kFormat.subnormal) : 0;
        // A factor among the subnormal numbers is off by a step, which the others multiply.
        const double computed = row.error * terms * kCompute.epsilon + 1000 * kCompute.subnormal;
        const bool near = std::abs(got[i] - expected) <= rounded + computed ||
                          (std::isinf(got[i]) && within_steps<T>(got[i], expected, row.error)) ||
                          same_number(got[i], expected);
        EXPECT_TRUE(near) << row.name << " at " << kept[i] << " times " << g << " in "
                          << name_of(dtype_of<T>()) << " is " << got[i] << ", expected "
                          << expected;
        failures += near ? 0 : 1;
      }
    }
  }
}

TEST(UnaryGradKernel, EveryNumberOf16Bits) {
  sweep_slopes<float16>(every_number<float16>());
  sweep_slopes<bfloat16>(every_number<bfloat16>());
}

TEST(UnaryGradKernel, RandomFloatsOfAllMagnitudes) {
  constexpr uint32_t kSeed = 20261122;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  sweep_slopes<float>(random_bits_of_float(200'000, kSeed));
}

// The power in double, as it may be beyond float where the gradient is not; 0 times infinity is
// NaN.
TEST(UnaryGradKernel, PowGradIsRightAtAllEnds) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Values xs = {0.0,   -0.0,  1.0,  -1.0,  2.5,   -2.5, 1e-42, 3e38,
                     -3e38, 1e-30, kInf, -kInf, 0.999, 700,  kNan,  -1e-20};
  const Values gs = {1.0, -1.0, 0.0, 1e-30, 1e30, kInf, kNan};
  for (const double y : {1.7, -0.3, 1.0, 4.0, 5.0, -2.0, 1e-30, 12.5, 0.25, -40.0}) {
    for (const double g : gs) {
      const auto n = static_cast<int64_t>(xs.size());
      const DenseTensor x = tensor<float>(xs, {n});
      DenseTensor dx = blank<float>({n});
      registered<kernels::pow_grad, float>(KernelContext(), x, tensor<float>(Values(n, g), {n}), y,
                                           &dx);
      const Values got = to_doubles(dx);
      const Values at = to_doubles(x);
      for (size_t i = 0; i < at.size(); ++i) {
        const long double power = std::pow(static_cast<long double>(at[i]), y - 1.0L);
        const auto expected = static_cast<float>(static_cast<float>(g) * (y * power));
        const std::string what =
            fmt::format("x = {}, y = {}, g = {}: {}, not {}", at[i], y, g, got[i], expected);
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(got[i])) << what;
        } else if (std::isinf(expected) || expected == 0) {
          EXPECT_EQ(got[i], expected) << what;
        } else {
          EXPECT_LE(std::abs(got[i] - expected), 2e-7 * std::abs(expected) + 2e-45) << what;
        }
      }
    }
  }
}

}  // namespace
}  // namespace phi::testing
