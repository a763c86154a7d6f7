// Draws from distributions: moments, values that may not come, and parts that fit together bit for
// bit.
#include <algorithm>
#include <cmath>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/sampling.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/functors/random_draws.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

constexpr int64_t kDraws = 100000;

double variance_of(const Values& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (double v : values) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(values.size());
}

/// Within five standard errors, of a distribution whose fourth moment is not far from the normal's.
void expect_moments(const Values& values, double mean, double variance, const std::string& what) {
  const double count = static_cast<double>(values.size());
  EXPECT_NEAR(mean_of(values), mean, 5 * std::sqrt(variance / count) + 1e-12) << what;
  EXPECT_NEAR(variance_of(values), variance, variance * 20 / std::sqrt(count) + 1e-12) << what;
}

DenseTensor filled(double value, const Dims& dims) {
  return tensor<double>(Values(static_cast<size_t>(dims.numel()), value), dims);
}

template <typename Name>
Values drawn(double parameter, int seed = 3) {
  DenseTensor out = blank<double>({kDraws});
  registered<Name, double>(KernelContext(), filled(parameter, {kDraws}), seed, &out);
  return to_doubles(out);
}

TEST(Sampling, MomentsOfDistributionsOfOneParameter) {
  for (double p : {0.0, 0.1, 0.5, 1.0}) {
    expect_moments(drawn<kernels::bernoulli>(p), p, p * (1 - p), "bernoulli " + std::to_string(p));
  }
  for (double rate : {0.0, 0.3, 4.0, 9.9, 10.1, 250.0, 1e6}) {
    expect_moments(drawn<kernels::poisson>(rate), rate, rate, "poisson " + std::to_string(rate));
  }
  for (double shape : {0.2, 1.0, 3.5, 1000.0}) {
    expect_moments(drawn<kernels::standard_gamma>(shape), shape, shape,
                   "gamma " + std::to_string(shape));
  }
}

TEST(Sampling, BinomialsAreCountsOfSuccesses) {
  for (const auto& [n, p] : {std::pair{10, 0.0},
                             {10, 1.0},
                             {0, 0.5},
                             {7, 0.3},
                             {40, 0.9},
                             {40, 0.5},
                             {1000, 0.02},
                             {100000, 0.7}}) {
    DenseTensor out = blank<int64_t>({kDraws});
    registered<kernels::binomial, double>(KernelContext(), tensor<int64_t>({double(n)}, {1}),
                                          filled(p, {kDraws}), 3, &out);
    const Values values = to_doubles(out);
    expect_moments(values, n * p, n * p * (1 - p), std::to_string(n) + " " + std::to_string(p));
    EXPECT_GE(*std::ranges::min_element(values), 0);
    EXPECT_LE(*std::ranges::max_element(values), n);
  }
}

// Small counts whose chances are known: the shares of each are as they should be.
TEST(Sampling, SharesOfPoissonAndBinomialNumbers) {
  const Values rare = drawn<kernels::poisson>(12.5);
  for (int k = 4; k < 24; ++k) {
    const double chance = std::exp(k * std::log(12.5) - 12.5 - std::lgamma(k + 1.0));
    const auto share = static_cast<double>(std::ranges::count(rare, k)) / kDraws;
    EXPECT_NEAR(share, chance, 5 * std::sqrt(chance / kDraws)) << k;
  }
  DenseTensor out = blank<int64_t>({kDraws});
  registered<kernels::binomial, double>(KernelContext(), tensor<int64_t>({60}, {1}),
                                        filled(0.4, {kDraws}), 8, &out);
  const Values counts = to_doubles(out);
  for (int k = 14; k < 34; ++k) {
    const double ways = std::lgamma(61.0) - std::lgamma(k + 1.0) - std::lgamma(61.0 - k);
    const double chance = std::exp(ways + k * std::log(0.4) + (60 - k) * std::log(0.6));
    const auto share = static_cast<double>(std::ranges::count(counts, k)) / kDraws;
    EXPECT_NEAR(share, chance, 5 * std::sqrt(chance / kDraws)) << k;
  }
}

TEST(Sampling, ExponentialAndTruncatedNormalNumbers) {
  DenseTensor out = blank<double>({kDraws});
  registered<kernels::exponential, double>(KernelContext(), out, 4.0f, 5, &out);
  expect_moments(to_doubles(out), 0.25, 0.0625, "exponential");
  EXPECT_GT(*std::ranges::min_element(out.values<double>()), 0);

  registered<kernels::truncated_gaussian_random, double>(KernelContext(), 0.0f, 1.0f, 5, -2.0f,
                                                         2.0f, &out);
  expect_moments(to_doubles(out), 0, 0.7737, "within two deviations");
  // Far from the mean, on either side.
  for (const float sign : {1.0f, -1.0f}) {
    const float a = sign > 0 ? 6.0f : -7.0f;
    registered<kernels::truncated_gaussian_random, double>(KernelContext(), 0.0f, 1.0f, 5, a,
                                                           a + 1.0f, &out);
    EXPECT_GE(*std::ranges::min_element(out.values<double>()), a);
    EXPECT_LE(*std::ranges::max_element(out.values<double>()), a + 1);
    EXPECT_NEAR(mean_of(to_doubles(out)), sign * 6.158, 0.01);
  }
}

TEST(Sampling, QuantilesAreThoseOfTheNormalDistribution) {
  for (double z : {-30.0, -8.3, -8.2, -8.0, -3.0, -2.9, -0.5, 0.0, 1e-3, 1.0, 4.0}) {
    EXPECT_NEAR(normal_quantile(0.5 * std::erfc(-z / std::sqrt(2.0))), z, 1e-11) << z;
  }
}

TEST(Sampling, DirichletDrawsAddUpToOne) {
  const Dims dims = {20000, 3};
  Values alpha;
  for (int64_t row = 0; row < dims[0]; ++row) alpha.insert(alpha.end(), {1.0, 2.0, 5.0});
  DenseTensor out = blank<double>(dims);
  registered<kernels::dirichlet, double>(KernelContext(), tensor<double>(alpha, dims), 9, &out);
  const Values values = to_doubles(out);
  for (int c = 0; c < 3; ++c) {
    const Values column = cut(values, dims, 1, c, c + 1);
    const double mean = alpha[static_cast<size_t>(c)] / 8;
    expect_moments(column, mean, mean * (1 - mean) / 9, "class " + std::to_string(c));
  }
  for (size_t i = 0; i < values.size(); i += 3) {
    EXPECT_NEAR(values[i] + values[i + 1] + values[i + 2], 1, 1e-12);
  }
  // Parameters so small that gamma draws are 0 in float64.
  registered<kernels::dirichlet, double>(KernelContext(), filled(1e-4, dims), 9, &out);
  for (double v : out.values<double>()) EXPECT_TRUE(v >= 0 && v <= 1);
}

TEST(Sampling, IntegersFillTheirRangeEvenly) {
  DenseTensor out = blank<int64_t>({kDraws});
  registered<kernels::randint, int64_t>(KernelContext(), -3, 4, 11, &out);
  const Values values = to_doubles(out);
  for (int k = -3; k < 4; ++k) {
    EXPECT_NEAR(static_cast<double>(std::ranges::count(values, k)) / kDraws, 1.0 / 7, 0.006) << k;
  }
  constexpr int kLowest = std::numeric_limits<int>::min();
  constexpr int kHighest = std::numeric_limits<int>::max();
  registered<kernels::randint, int64_t>(KernelContext(), kLowest, kHighest, 11, &out);
  EXPECT_NEAR(mean_of(to_doubles(out)) / kHighest, 0, 0.01);
}

/// The whole numbers from low to below high as words of 64 bits are scaled.
Values whole_numbers(int64_t n, int64_t low, int64_t high, int seed) {
  Values out;
  for (int64_t i = 0; i < n; ++i) {
    const auto word = [&](RandomUse use) {
      const PhiloxKey key = philox_key(static_cast<uint64_t>(int64_t{seed}));
      return uint64_t{philox(philox_counter(static_cast<uint64_t>(i / 4), use), key).word[i % 4]};
    };
    const auto numbers = static_cast<uint64_t>(high - low);
    const uint64_t carry = word(RandomUse::kIntegerLow) * numbers >> 32;
    const uint64_t scaled = (word(RandomUse::kInteger) * numbers + carry) >> 32;
    out.push_back(static_cast<double>(low + static_cast<int64_t>(scaled)));
  }
  return out;
}

TEST(Sampling, IntegersAreScaledWords) {
  constexpr int kLowest = std::numeric_limits<int>::min();
  constexpr int kHighest = std::numeric_limits<int>::max();
  for (const int64_t n : {1, 5, 256, 1001}) {
    DenseTensor wide = blank<int64_t>({n}), narrow = blank<int8_t>({n});
    registered<kernels::randint, int64_t>(KernelContext(), kLowest, kHighest, -3, &wide);
    EXPECT_EQ(to_doubles(wide), whole_numbers(n, kLowest, kHighest, -3)) << n;
    registered<kernels::randint, int8_t>(KernelContext(), -7, 100, 8, &narrow);
    EXPECT_EQ(to_doubles(narrow), whole_numbers(n, -7, 100, 8)) << n;
  }
}

/// Parameters of all sizes.
Values many_parameters(int64_t n, double low, double high) {
  Values out;
  for (int64_t i = 0; i < n; ++i) {
    const double u = static_cast<double>(i) * 0.6180339887498949;
    out.push_back(low * std::pow(high / low, u - std::floor(u)));
  }
  return out;
}

template <typename Name, typename T>
DenseTensor drawn_with(const DenseTensor& x) {
  DenseTensor out = blank<T>(x.dims());
  registered<Name, T>(KernelContext(), x, 12, &out);
  return out;
}

/// What draw(words of element i, parameter i) gives for each.
template <typename Draw>
Values drawn_one_by_one(const DenseTensor& x, RandomUse use, Draw draw) {
  Values out;
  for (const double parameter : to_doubles(x)) {
    ElementWords words(out.size(), use, philox_key(12));
    out.push_back(draw(words, parameter));
  }
  return out;
}

// Rates for which a draw takes one number or many.
TEST(Sampling, PoissonNumbersAreThoseOfTheirWords) {
  const auto draw = [](ElementWords& words, double rate) { return draw_poisson(words, rate); };
  for (const double highest : {1.0, 12.0, 1e5}) {
    const DenseTensor x = tensor<float>(many_parameters(3000, 1e-3, highest), {3000});
    EXPECT_EQ(to_doubles(drawn_with<kernels::poisson, float>(x)),
              drawn_one_by_one(x, RandomUse::kPoisson, draw))
        << highest;
  }
}

/// As Marsaglia and Tsang have it without a squeeze, by its logarithm.
double plain_gamma(ElementWords& words, double shape) {
  const double boost = shape < 1 ? std::log(words.unit()) / shape : 0;
  if (shape < 1) shape += 1;
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = draw_normal(words);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(words.unit()) < 0.5 * x * x + d - d * v + d * std::log(v))
      return std::exp(std::log(d * v) + boost);
  }
}

constexpr std::pair<double, double> kShapes[] = {{1e-3, 1.0}, {0.5, 2.0}, {1.0, 1e3}, {1e3, 1e8}};

TEST(Sampling, GammaNumbersAreThoseOfTheirWords) {
  for (const auto& [low, high] : kShapes) {
    const DenseTensor x = tensor<double>(many_parameters(5000, low, high), {5000});
    const Values got = to_doubles(drawn_with<kernels::standard_gamma, double>(x));
    const Values expected = drawn_one_by_one(x, RandomUse::kGamma, plain_gamma);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected[i], 1e-12 * expected[i]) << to_doubles(x)[i];
  }
}

/// A narrow dtype's numbers are those of float64 for the same shapes, rounded.
template <typename T>
void expect_rounded_gamma(double low, double high) {
  const DenseTensor x = tensor<T>(many_parameters(5000, low, high), {5000});
  const DenseTensor wide = tensor<double>(to_doubles(x), {5000});
  const Values drawn = to_doubles(drawn_with<kernels::standard_gamma, double>(wide));
  Values expected;
  for (const double v : drawn) expected.push_back(convert_value<double>(convert_value<T>(v)));
  EXPECT_EQ(to_doubles(drawn_with<kernels::standard_gamma, T>(x)), expected) << low;
}

TEST(Sampling, GammaNumbersAreRoundedOnce) {
  for (const auto& [low, high] : kShapes) {
    expect_rounded_gamma<float>(low, high);
    expect_rounded_gamma<bfloat16>(low, high);
    if (high < 65504) expect_rounded_gamma<float16>(low, high);
  }
}

TEST(Multinomial, ChoosesByWeight) {
  const DenseTensor weights = tensor<float>({1, 0, 3, 4}, {4});
  DenseTensor out = blank<int64_t>({kDraws});
  registered<kernels::multinomial, float>(KernelContext(), weights, true, 6, &out);
  const Values values = to_doubles(out);
  for (int c = 0; c < 4; ++c) {
    const double chance = to_doubles(weights)[static_cast<size_t>(c)] / 8;
    EXPECT_NEAR(static_cast<double>(std::ranges::count(values, c)) / kDraws, chance, 0.01) << c;
  }
}

TEST(Multinomial, WithoutReplacementChoosesApart) {
  const Dims dims = {20000, 3};
  Values weights;
  for (int64_t row = 0; row < dims[0]; ++row) weights.insert(weights.end(), {1.0, 2.0, 1.0});
  DenseTensor out = blank<int64_t>({dims[0], 2});
  registered<kernels::multinomial, double>(KernelContext(), tensor<double>(weights, dims), false, 6,
                                           &out);
  const Values chosen = to_doubles(out);
  int first_is_1 = 0;
  for (size_t i = 0; i < chosen.size(); i += 2) {
    EXPECT_NE(chosen[i], chosen[i + 1]);
    first_is_1 += chosen[i] == 1;
  }
  EXPECT_NEAR(first_is_1 / 20000.0, 0.5, 0.02);
}

// A part of a tensor draws what the whole does there.
TEST(Sampling, PartsFitTogether) {
  const Dims dims = {6, 7};
  const DenseTensor x = tensor<float>(random_values(42, 1, 0.1, 0.9), dims);
  const auto expect_parts = [&](const std::string& what, auto&& run) {
    DenseTensor all = blank<float>(dims);
    run(KernelContext(), x, &all);
    for (const auto& [axis, begin, end] : {std::tuple{0, 1, 5}, {1, 2, 6}}) {
      const Dims local = with_extent(dims, axis, end - begin);
      FakeView view;
      view.inputs = view.outputs = {part(dims, axis, begin, end)};
      DenseTensor out = blank<float>(local);
      run(KernelContext(CPUPlace(), &view),
          tensor<float>(cut(to_doubles(x), dims, axis, begin, end), local), &out);
      EXPECT_EQ(to_doubles(out), cut(to_doubles(all), dims, axis, begin, end)) << what;
    }
  };
  expect_parts("bernoulli", [](const KernelContext& ctx, const DenseTensor& in, DenseTensor* out) {
    registered<kernels::bernoulli, float>(ctx, in, 5, out);
  });
  expect_parts("poisson", [](const KernelContext& ctx, const DenseTensor& in, DenseTensor* out) {
    registered<kernels::poisson, float>(ctx, in, 5, out);
  });
  expect_parts("gamma", [](const KernelContext& ctx, const DenseTensor& in, DenseTensor* out) {
    registered<kernels::standard_gamma, float>(ctx, in, 5, out);
  });
  expect_parts("exponential",
               [](const KernelContext& ctx, const DenseTensor& in, DenseTensor* out) {
                 registered<kernels::exponential, float>(ctx, in, 2.0f, 5, out);
               });
}

TEST(Sampling, ParametersOutsideTheirRangeAreErrors) {
  DenseTensor out = blank<double>({1});
  DenseTensor counts = blank<int64_t>({1});
  const auto refuses = [&](auto name, double value) {
    expect_error("but a parameter of this distribution is", [&] {
      registered<decltype(name), double>(KernelContext(), filled(value, {1}), 1, &out);
    });
  };
  for (double p : {-0.1, 1.1, std::nan("")}) refuses(kernels::bernoulli{}, p);
  for (double rate : {-1.0, HUGE_VAL, std::nan("")}) refuses(kernels::poisson{}, rate);
  for (double shape : {0.0, -1.0, HUGE_VAL}) refuses(kernels::standard_gamma{}, shape);
  refuses(kernels::dirichlet{}, 0.0);
  expect_error("a number of trials, at least 0", [&] {
    registered<kernels::binomial, double>(KernelContext(), filled(-1, {1}), filled(0.5, {1}), 1,
                                          &counts);
  });
  const auto chooses = [&](const Values& weights) {
    const auto classes = static_cast<int64_t>(weights.size());
    registered<kernels::multinomial, double>(KernelContext(), tensor<double>(weights, {classes}),
                                             false, 1, &counts);
  };
  expect_error("weights of classes are finite numbers", [&] { chooses({1, -1}); });
  expect_error("of the weights in a row of x are above 0", [&] { chooses({0, 0}); });
}

}  // namespace
}  // namespace phi::testing
