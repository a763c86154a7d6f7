// The AVX-512 form of a loop against the program's own instructions, in one process: the same bits.
// Beside it that an element's result does not depend on where in an array it stands, in whichever
// form this process runs.
#include "phi/kernels/cpu/loop_isa.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "phi/kernels/cpu/loops/elementwise_loop.h"
#include "phi/kernels/cpu/reduction/reduce_loop.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/elementwise/unary.h"
#include "phi/kernels/functors/elementwise/unary_grad.h"
#include "phi/kernels/functors/elementwise/unary_math.h"
#include "phi/kernels/functors/reduce.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

template <typename T>
std::vector<T> numbers(int64_t n, uint32_t seed) {
  std::vector<T> xs(n);
  std::mt19937 engine(seed);
  std::normal_distribution<float> draw(0, 4);
  std::generate(xs.begin(), xs.end(), [&] { return T(draw(engine)); });
  return xs;
}

template <typename T>
void expect_same_bits(const std::vector<T>& got, const std::vector<T>& expected,
                      const std::string& what) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::memcmp(&got[i], &expected[i], sizeof(T)), 0)
        << what << " at " << i << ": " << float(got[i]) << " for " << float(expected[i]);
  }
}

/// The whole array at once, against pieces of every length up to a few registers.
template <typename T, typename F>
void expect_placeless(F f, const std::string& name) {
  constexpr int64_t kCount = 1200;
  const std::vector<T> xs = numbers<T>(kCount, 1), ys = numbers<T>(kCount, 2);
  std::vector<T> whole(kCount), pieces(kCount);
  const auto run = [&](int64_t at, int64_t n, std::vector<T>& out) {
    if constexpr (std::is_invocable_v<F, compute_t<T>>) {
      unary_loop(&xs[at], &out[at], n, f);
    } else {
      binary_loop(&xs[at], &ys[at], &out[at], n, f);
    }
  };
  run(0, kCount, whole);
  for (int64_t at = 0, n = 1; at < kCount; at += n, ++n) run(at, std::min(n, kCount - at), pieces);
  expect_same_bits(pieces, whole, name);
}

template <typename T>
void expect_placeless_functors() {
  using C = compute_t<T>;
  expect_placeless<T>(ExpFunctor<C>(), "exp");
  expect_placeless<T>(LogFunctor<C>(), "log");
  expect_placeless<T>(TanhFunctor<C>(), "tanh");
  expect_placeless<T>(SigmoidFunctor<C>(), "sigmoid");
  expect_placeless<T>(SiluFunctor<C>(), "silu");
  expect_placeless<T>(GeluFunctor<C>(), "gelu");
  expect_placeless<T>(GeluTanhFunctor<C>(), "gelu, tanh");
  expect_placeless<T>(ScaleFunctor<C, true>{C(0.3), C(0.7)}, "scale");
  expect_placeless<T>(DivideFunctor<C>(), "divide");
  expect_placeless<T>(TanhGradFunctor<C>(), "tanh_grad");
  expect_placeless<T>(SigmoidGradFunctor<C>(), "sigmoid_grad");
  expect_placeless<T>(SiluGradFunctor<C>(), "silu_grad");
  expect_placeless<T>(GeluGradFunctor<C>(), "gelu_grad");
  expect_placeless<T>(GeluTanhGradFunctor<C>(), "gelu_grad, tanh");
}

TEST(Wide, AnElementsResultDoesNotDependOnItsPlace) {
  expect_placeless_functors<float>();
  expect_placeless_functors<double>();
  expect_placeless_functors<bfloat16>();
  expect_placeless_functors<float16>();
}

/// A block of values that have a common form, `xs`, alone and beside each of `rare`.
template <typename F, typename T>
void expect_indifferent_to(const std::vector<T>& rare, std::vector<T> xs, const std::string& name) {
  static_assert(phi::detail::HasFastPath<F>);
  const auto n = static_cast<int64_t>(xs.size());
  std::vector<T> alone(n), beside(n);
  unary_loop(xs.data(), alone.data(), n, F());
  for (T x : rare) {
    EXPECT_GT(phi::detail::FastPath<F>::rank(x), phi::detail::FastPath<F>::kMost)
        << name << "(" << x << ")";
    xs[0] = x;
    unary_loop(xs.data(), beside.data(), n, F());
    const F functor;
    const T expected = functor(x);
    EXPECT_TRUE(same_number(beside[0], expected)) << name << "(" << x << ") is " << beside[0];
    std::vector<T> same = xs;
    unary_loop(same.data(), same.data(), n, F());
    expect_same_bits(same, beside, name + " in place beside " + std::to_string(x));
    beside[0] = alone[0];
    expect_same_bits(beside, alone, name + " beside " + std::to_string(x));
  }
}

/// `beyond`: numbers of which exp has no common form.
template <typename T>
void expect_functors_indifferent(const std::vector<T>& beyond) {
  const std::vector<T> xs = numbers<T>(kConvertBlock, 5);
  std::vector<T> positive = xs;
  for (T& x : positive) x = x * x * x * x;
  expect_indifferent_to<ExpFunctor<T>>(beyond, xs, "exp");
  expect_indifferent_to<Expm1Functor<T>>(beyond, xs, "expm1");
  expect_indifferent_to<SigmoidFunctor<T>>(beyond, xs, "sigmoid");
  expect_indifferent_to<SiluFunctor<T>>(beyond, xs, "silu");
  const T subnormal = std::numeric_limits<T>::min() / 2;
  const std::vector<T> no_logarithms = {0, T(-0.0), -1, subnormal, INFINITY, -INFINITY, NAN};
  expect_indifferent_to<LogFunctor<T>>(no_logarithms, positive, "log");
  expect_indifferent_to<Log2Functor<T>>(no_logarithms, positive, "log2");
  expect_indifferent_to<Log10Functor<T>>(no_logarithms, positive, "log10");
}

// Blocks take the common form of a functor or the functor: that must not show.
TEST(Wide, AnElementsResultDoesNotDependOnItsNeighbours) {
  expect_functors_indifferent<float>({INFINITY, -INFINITY, NAN, -88.0f, 3e38f});
  expect_functors_indifferent<double>({INFINITY, -INFINITY, NAN, -709.0, 1e308});
  const std::vector<float> beyond = {INFINITY, -INFINITY, NAN, -88.0f, 3e38f};
  std::vector<float> small = numbers<float>(kConvertBlock, 5), above = small;
  for (float& x : small) x = std::fmod(x, 9.0f);
  for (float& x : above) x = std::fabs(x) - 0.99f;
  expect_indifferent_to<GeluFunctor<float>>(beyond, small, "gelu");
  expect_indifferent_to<GeluTanhFunctor<float>>(beyond, small, "gelu, tanh");
  const std::vector<float> not_above_minus_1 = {-1.0f, -2.0f, INFINITY, NAN};
  expect_indifferent_to<Log1pFunctor<float>>(not_above_minus_1, above, "log1p");
}

template <typename T>
void expect_inverse_errors_indifferent() {
  const T inside = fast::kErfinvInside<T>;
  const T edge = std::nextafter(inside, T(1));
  const std::vector<T> far = {edge, -edge, T(0.99999), std::nextafter(T(1), T(0)), 1, -1, 2, NAN};
  std::vector<T> xs = numbers<T>(kConvertBlock, 5);
  for (T& x : xs) x = std::fmod(x, inside);
  xs[1] = 0;
  xs[2] = inside;
  expect_indifferent_to<ErfinvFunctor<T>>(far, xs, "erfinv");
  std::vector<T> block(xs.size());
  unary_loop(xs.data(), block.data(), static_cast<int64_t>(xs.size()), ErfinvFunctor<T>());
  for (size_t i = 0; i < xs.size(); ++i) EXPECT_EQ(block[i], fast::erfinv(xs[i])) << xs[i];
}

TEST(Wide, AnElementsInverseErrorFunctionDoesNotDependOnItsNeighbours) {
  expect_inverse_errors_indifferent<float>();
  expect_inverse_errors_indifferent<double>();
}

/// Roots of xs, in place and not, against the instruction's.
template <typename T>
void expect_exact_roots(const std::vector<T>& xs) {
  const auto n = static_cast<int64_t>(xs.size());
  std::vector<T> roots(n), expected(n), same = xs;
  std::transform(xs.begin(), xs.end(), expected.begin(), [](T x) { return std::sqrt(x); });
  unary_loop(xs.data(), roots.data(), n, SqrtFunctor<T>());
  unary_loop(same.data(), same.data(), n, SqrtFunctor<T>());
  for (int64_t i = 0; i < n; ++i) {
    ASSERT_TRUE(same_number(roots[i], expected[i])) << xs[i] << ": " << roots[i];
    ASSERT_TRUE(same_number(same[i], expected[i])) << xs[i] << " in place: " << same[i];
    if (xs[i] == 0) {
      ASSERT_EQ(std::signbit(roots[i]), std::signbit(xs[i]));
    }
  }
}

// A root's mantissa depends on those of x and on whether its exponent is even: these are all.
TEST(Avx512Version, RootsOfFloatsAreRoundedRightly) {
  constexpr uint32_t kMantissas = 1u << 24, kBlock = 1u << 16, kOne = 127u << 23;
  std::vector<float> xs(kBlock);
  for (uint32_t begin = 0; begin < kMantissas; begin += kBlock) {
    for (uint32_t i = 0; i < kBlock; ++i) xs[i] = std::bit_cast<float>(kOne + begin + i);
    expect_exact_roots(xs);
  }
}

// Drawn, and the hardest: squares of as many bits as fit, and their neighbours.
TEST(Avx512Version, RootsOfDoublesAreRoundedRightly) {
  std::mt19937_64 draw(7);
  std::vector<double> xs;
  for (int i = 0; i < 300'000; ++i) {
    const uint64_t exponent = 1022 + draw() % 4;
    xs.push_back(std::bit_cast<double>(exponent << 52 | draw() >> 12));
    const double root = std::bit_cast<double>(uint64_t{1023} << 52 | draw() >> 38 << 26);
    const auto square = std::bit_cast<uint64_t>(root * root);
    for (int ulp = -2; ulp <= 2; ++ulp) xs.push_back(std::bit_cast<double>(square + ulp));
  }
  expect_exact_roots(xs);
}

template <typename T>
void expect_exact_roots_of_any() {
  using Limits = std::numeric_limits<T>;
  const T tiny = Limits::min(), most = Limits::max();
  std::vector<T> xs = numbers<T>(1003, 3);
  for (T& x : xs) x = std::exp2(x * 8);
  const std::vector<T> rare = {0,    T(-0.0), -1,       tiny,      tiny / 8, Limits::denorm_min(),
                               most, -most,   INFINITY, -INFINITY, T(NAN)};
  for (T x : rare) {
    xs[xs.size() / 2] = x;
    xs.back() = x;
    expect_exact_roots(xs);
  }
  for (int exponent = Limits::min_exponent; exponent < Limits::max_exponent; ++exponent) {
    const T x = std::ldexp(T(1.7), exponent - 1);
    expect_exact_roots(std::vector<T>(40, x));
  }
  for (int64_t n = 1; n < 40; ++n) expect_exact_roots(std::vector<T>(n, T(2)));
}

TEST(Avx512Version, RootsOfAnyNumberAndInArraysOfAnyLength) {
  expect_exact_roots_of_any<float>();
  expect_exact_roots_of_any<double>();
}

/// loop(out) in both forms.
template <typename T, typename Loop>
void expect_same_forms(int64_t n, Loop loop, const std::string& name) {
  if (!has_avx512()) GTEST_SKIP() << "no AVX-512 here, or AUTOPHI_LOOP_ISA is base";
  std::vector<T> narrow(n), wide(n);
  loop(narrow.data());
  phi::detail::run_avx512([&] { loop(wide.data()); });
  expect_same_bits(wide, narrow, name);
}

template <typename T>
void expect_same_bits_in_both_forms() {
  constexpr int64_t kCount = 1003;
  const std::vector<T> xs = numbers<T>(kCount, 3), ys = numbers<T>(kCount, 4);
  const auto same = [&](auto f, const char* name) {
    expect_same_forms<T>(
        kCount,
        [&](T* out) {
          const auto input = [](const T* in) { return phi::detail::InputElement<T, false>(in); };
          if constexpr (std::is_invocable_v<decltype(f), T>) {
            phi::detail::map_run(out, kCount, f, input(xs.data()));
          } else {
            phi::detail::map_run(out, kCount, f, input(xs.data()), input(ys.data()));
          }
        },
        name);
  };
  same(ExpFunctor<T>(), "exp");
  same(Expm1Functor<T>(), "expm1");
  same(TanhFunctor<T>(), "tanh");
  same(GeluFunctor<T>(), "gelu");
  same(GeluTanhFunctor<T>(), "gelu, tanh");
  same(SiluFunctor<T>(), "silu");
  same(LogFunctor<T>(), "log");
  same(Log1pFunctor<T>(), "log1p");
  same(SinhFunctor<T>(), "sinh");
  same(AcoshFunctor<T>(), "acosh");
  same(SinFunctor<T>(), "sin");
  same(AtanFunctor<T>(), "atan");
  same(ErfFunctor<T>(), "erf");
  same(PowFunctor<T>{T(1.7)}, "pow");
  same(AddFunctor<T>(), "add");
  same(GeluGradFunctor<T>(), "gelu_grad");
  same(GeluTanhGradFunctor<T>(), "gelu_grad, tanh");
  same(SiluGradFunctor<T>(), "silu_grad");
  expect_same_forms<T>(
      1,
      [&](T* sum) {
        const T* row = xs.data();
        *sum = row_sum<T>(kCount, [row](int64_t i) { return row[i] * row[i]; });
      },
      "a sum of squares");
  const auto reduced = [&](auto reducer, const char* name) {
    using R = decltype(reducer);
    const T* blocks[] = {xs.data(), ys.data()};
    expect_same_forms<typename R::value_type>(
        2, [&](auto* values) { phi::detail::reduce_next<R, 2>(blocks, kCount, values); }, name);
    expect_same_forms<typename R::value_type>(
        kCount,
        [&](auto* lanes) {
          std::fill_n(lanes, kCount, R::kIdentity);
          phi::detail::join_next_rows<R, 2>(blocks, kCount, lanes);
        },
        name);
  };
  reduced(SumReducer<T>(), "a sum");
  reduced(MaxReducer<T>(), "a maximum");
  reduced(SumOfSquaresReducer<T>(), "a reduction in double");
}

TEST(Wide, FloatLoopsGiveTheSameBitsInBothForms) { expect_same_bits_in_both_forms<float>(); }
TEST(Wide, DoubleLoopsGiveTheSameBitsInBothForms) { expect_same_bits_in_both_forms<double>(); }

TEST(WideDeathTest, UnknownIsaIsNamedWithTheKnownOnes) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process: has_avx512() asks once
  const auto ask = [] {
    setenv("AUTOPHI_LOOP_ISA", "mmx", 1);
    try {
      has_avx512();
    } catch (const Error& error) {
      std::fputs(error.what(), stderr);
      std::exit(1);
    }
    std::exit(0);
  };
  EXPECT_EXIT(ask(), ::testing::ExitedWithCode(1),
              "AUTOPHI_LOOP_ISA is 'mmx'; it accepts base, avx512 or avx512_bf16");
}

TEST(Wide, ResultOfTheLoopIsReturned) {
  EXPECT_EQ(run_best_isa<float>([] { return 3; }), 3);
  EXPECT_EQ(run_best_isa<double>([] { return 4; }), 4);
}

}  // namespace
}  // namespace phi::testing
