// Kernels of several elementwise inputs against double precision, one element at a time.

#include <limits>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/binary.h"
#include "phi/generated/kernels/elementwise.h"
#include "phi/infermeta/axes.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

// The value that element `at` (row-major) of an array of `out` dims takes from `x`.
double broadcast_at(const Values& x, const Dims& x_dims, const Dims& out, int64_t at) {
  int64_t index = 0;
  int64_t stride = 1;
  for (int back = 1; back <= x_dims.ndim(); ++back) {
    const int64_t extent = out[out.ndim() - back];
    const int64_t own = x_dims[x_dims.ndim() - back];
    if (own != 1) index += at % extent * stride;
    at /= extent;
    stride *= own;
  }
  return x[index];
}

const std::vector<std::pair<Dims, Dims>>& shape_pairs() {
  static const std::vector<std::pair<Dims, Dims>> pairs = {
      {{}, {}},
      {{3}, {}},
      {{}, {2, 3}},
      {{37}, {37}},
      {{300}, {1}},
      {{5, 7}, {7}},
      {{7}, {5, 7}},
      {{5, 1}, {5, 7}},
      {{3, 1, 24}, {1, 50, 24}},  // short rows that begin again: several at a time
      {{2, 40, 9}, {2, 1, 9}},
      {{3, 1, 40}, {1, 50, 40}},  // longer ones: rows of a run in one call
      {{2, 5, 70}, {2, 5, 1}},
      {{2, 1, 70}, {2, 5, 1}},
      {{3, 1, 33}, {2, 1}},
      {{1, 30, 7}, {4, 1, 1}},
      {{5, 1}, {1, 7}},
      {{1, 1, 300}, {300}},
      {{2, 3, 4}, {3, 1}},
      {{2, 1, 4, 5}, {3, 1, 5}},
      {{2, 3, 1, 1}, {2, 3, 4, 5}},
      {{2, 3, 4, 5}, {1, 3, 1, 5}},
      {{3, 1, 2, 1, 3, 1}, {1, 2, 1, 3, 1, 2}},
      {{0, 4}, {4}},
      {{3, 0}, {3, 1}},
      {{2, 300}, {2, 1}},
  };
  return pairs;
}

using Oracle = double (*)(double, double);

template <typename T, typename Kernel>
void check_binary(Kernel kernel, Oracle oracle, bool whole_numbers) {
  uint32_t seed = 1;
  for (const auto& [x_dims, y_dims] : shape_pairs()) {
    const Dims dims = broadcast_dims(x_dims, y_dims);
    const double low = std::is_signed_v<T> || !std::is_integral_v<T> ? -4 : 0;
    Values xs = random_values(x_dims.numel(), ++seed, low, 4);
    Values ys = random_values(y_dims.numel(), ++seed, 0.5, 4);
    if (whole_numbers) {
      for (double& v : xs) v = std::trunc(v) + 4 * (low == 0);
      for (double& v : ys) v = std::trunc(v);
    }
    Values expected(dims.numel());
    for (int64_t i = 0; i < dims.numel(); ++i) {
      expected[i] = oracle(broadcast_at(xs, x_dims, dims, i), broadcast_at(ys, y_dims, dims, i));
    }
    const std::string what =
        std::string(name_of(dtype_of<T>())) + x_dims.to_string() + " with " + y_dims.to_string();
    const DenseTensor x = tensor<T>(xs, x_dims);
    const DenseTensor y = tensor<T>(ys, y_dims);
    DenseTensor out = blank<T>(dims);
    kernel(KernelContext(), x, y, &out);
    expect_close<T>(out, expected, what);
    if (x_dims == dims) {  // in place
      DenseTensor same = x;
      kernel(KernelContext(), x, y, &same);
      expect_close<T>(same, expected, what + " in place");
    }
  }
}

template <typename T>
void check_arithmetic(bool whole_numbers) {
  check_binary<T>(
      registered<kernels::add, T>, [](double x, double y) { return x + y; }, whole_numbers);
  check_binary<T>(
      registered<kernels::subtract, T>, [](double x, double y) { return x - y; }, whole_numbers);
  check_binary<T>(
      registered<kernels::multiply, T>, [](double x, double y) { return x * y; }, whole_numbers);
  check_binary<T>(
      registered<kernels::maximum, T>, [](double x, double y) { return std::max(x, y); },
      whole_numbers);
}

TEST(ElementwiseKernel, FloatingDtypesBroadcast) {
  check_arithmetic<float>(false);
  check_arithmetic<double>(false);
  check_arithmetic<float16>(false);
  check_arithmetic<bfloat16>(false);
}

TEST(ElementwiseKernel, IntegersBroadcast) {
  check_arithmetic<uint8_t>(true);
  check_arithmetic<int32_t>(true);
  check_arithmetic<int64_t>(true);
}

TEST(ElementwiseKernel, Divide) {
  const Oracle quotient = [](double x, double y) { return x / y; };
  check_binary<float>(registered<kernels::divide, float>, quotient, false);
  check_binary<double>(registered<kernels::divide, double>, quotient, false);
  check_binary<float16>(registered<kernels::divide, float16>, quotient, false);
  check_binary<bfloat16>(registered<kernels::divide, bfloat16>, quotient, false);
}

template <typename T>
void check_integer_quotients() {
  const std::vector<T> list = rare_integers<T>();
  std::vector<T> xs, ys;
  for (T x : list) {
    for (T y : list) {
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  const Dims dims{static_cast<int64_t>(xs.size())};
  DenseTensor out = blank<float>(dims);
  registered<kernels::divide, T>(KernelContext(), DenseTensor::from<T>(xs, dims),
                                 DenseTensor::from<T>(ys, dims), &out);
  for (size_t i = 0; i < xs.size(); ++i) {
    const double quotient = static_cast<double>(xs[i]) / static_cast<double>(ys[i]);
    const float got = out.data<float>()[i];
    EXPECT_TRUE(got == static_cast<float>(quotient) || (got != got && quotient != quotient))
        << +xs[i] << " / " << +ys[i] << " is " << got;
  }
}

TEST(ElementwiseKernel, IntegersDivideInFloat) {
  check_integer_quotients<uint8_t>();
  check_integer_quotients<int32_t>();
  check_integer_quotients<int64_t>();
  DenseTensor rows = blank<float>({2, 3});
  registered<kernels::divide, int32_t>(KernelContext(),
                                       tensor<int32_t>({7, -7, 6, 5, -5, 0}, {2, 3}),
                                       tensor<int32_t>({2, -4}, {2, 1}), &rows);
  EXPECT_EQ(to_doubles(rows), (Values{3.5, -3.5, 3, -1.25, 1.25, 0}));
}

// An error by value; of nothing there is none.
TEST(ElementwiseKernel, NoIntegerHasARemainderByZero) {
  DenseTensor out = blank<int64_t>({2, 2}), none = blank<int64_t>({0, 2});
  const DenseTensor y = tensor<int64_t>({1, 0}, {2});
  expect_error("y i64[2] has a 0", [&] {
    registered<kernels::remainder, int64_t>(KernelContext(), tensor<int64_t>({1, 2, 3, 4}, {2, 2}),
                                            y, &out);
  });
  registered<kernels::remainder, int64_t>(KernelContext(), tensor<int64_t>({}, {0, 2}), y, &none);
}

TEST(ElementwiseKernel, BoolAddsAsOrAndMultipliesAsAnd) {
  const DenseTensor x = tensor<bool>({0, 0, 1, 1}, {4});
  const DenseTensor y = tensor<bool>({0, 1, 0, 1}, {4});
  DenseTensor out = blank<bool>({4});
  registered<kernels::add, bool>(KernelContext(), x, y, &out);
  EXPECT_EQ(to_doubles(out), (Values{0, 1, 1, 1}));
  registered<kernels::maximum, bool>(KernelContext(), x, y, &out);
  EXPECT_EQ(to_doubles(out), (Values{0, 1, 1, 1}));
  registered<kernels::multiply, bool>(KernelContext(), x, y, &out);
  EXPECT_EQ(to_doubles(out), (Values{0, 0, 0, 1}));
}

TEST(ElementwiseKernel, IntegersWrapAround) {
  const int32_t highest = std::numeric_limits<int32_t>::max();
  const std::vector<int32_t> values = {highest, 65536};
  const DenseTensor x = DenseTensor::from<int32_t>(values, {2});
  DenseTensor out = blank<int32_t>({2});
  registered<kernels::add, int32_t>(KernelContext(), x, x, &out);
  EXPECT_EQ(out.values<int32_t>()[0], -2);
  registered<kernels::multiply, int32_t>(KernelContext(), x, x, &out);
  EXPECT_EQ(out.values<int32_t>()[1], 0);
}

TEST(ElementwiseKernel, NaNWinsInMaximum) {
  const DenseTensor x = tensor<float>({NAN, 1, -INFINITY, NAN}, {4});
  const DenseTensor y = tensor<float>({1, NAN, -2, NAN}, {4});
  DenseTensor out = blank<float>({4});
  registered<kernels::maximum, float>(KernelContext(), x, y, &out);
  const Values got = to_doubles(out);
  EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1]) && std::isnan(got[3]));
  EXPECT_EQ(got[2], -2);
}

template <typename T>
void check_where(const Dims& c_dims, const Dims& x_dims, const Dims& y_dims) {
  const Dims dims = broadcast_dims(c_dims, broadcast_dims(x_dims, y_dims));
  Values cs = random_values(c_dims.numel(), 5);
  for (double& v : cs) v = v > 0;
  // Distinct small whole numbers, exact in every dtype but bool.
  Values xs(x_dims.numel());
  Values ys(y_dims.numel());
  const bool is_bool = std::is_same_v<T, bool>;
  for (size_t i = 0; i < xs.size(); ++i) xs[i] = is_bool ? i % 2 : i;
  for (size_t i = 0; i < ys.size(); ++i) ys[i] = is_bool ? i % 3 == 0 : 60 + i;
  Values expected(dims.numel());
  for (int64_t i = 0; i < dims.numel(); ++i) {
    expected[i] = broadcast_at(cs, c_dims, dims, i) != 0 ? broadcast_at(xs, x_dims, dims, i)
                                                         : broadcast_at(ys, y_dims, dims, i);
  }
  DenseTensor out = blank<T>(dims);
  registered<kernels::where, T>(KernelContext(), tensor<bool>(cs, c_dims), tensor<T>(xs, x_dims),
                                tensor<T>(ys, y_dims), &out);
  EXPECT_EQ(to_doubles(out), expected)
      << c_dims.to_string() << x_dims.to_string() << y_dims.to_string();
}

TEST(WhereKernel, AllThreeBroadcastInEveryDtype) {
  const Dims shapes[][3] = {
      {{}, {}, {}},          {{40}, {40}, {40}},       {{40}, {}, {40}},
      {{40}, {40}, {1}},     {{40}, {1}, {1}},         {{1}, {40}, {40}},
      {{3, 1}, {3, 4}, {4}}, {{2, 1, 4}, {3, 1}, {}},  {{4}, {2, 3, 1}, {2, 3, 4}},
      {{0}, {1}, {0}},       {{3, 4}, {3, 1}, {1, 4}},
  };
  for (int t = 1; t < kNumRealDataTypes; ++t) {
    const auto dtype = static_cast<DataType>(t);
    for (const auto& [c_dims, x_dims, y_dims] : shapes) {
      visit_dtype(dtype, [&, &c = c_dims, &x = x_dims, &y = y_dims]<typename T>() {
        check_where<T>(c, x, y);
      });
    }
  }
}

TEST(AddNKernel, SumsInputsAndMayWriteOverOne) {
  for (int64_t n : {0, 1, 255, 256, 700}) {
    const Values a = random_values(n, 1);
    const Values b = random_values(n, 2);
    const Values c = random_values(n, 3);
    Values expected(n);
    for (int64_t i = 0; i < n; ++i) expected[i] = a[i] + b[i] + c[i];
    DenseTensor x = tensor<float>(a, {n});
    const DenseTensor y = tensor<float>(b, {n});
    const DenseTensor z = tensor<float>(c, {n});
    const DenseTensor* inputs[] = {&x, &y, &z};
    DenseTensor out = blank<float>({n});
    registered<kernels::add_n, float>(KernelContext(), inputs, &out);
    expect_close<float>(out, expected);
    DenseTensor same = x;
    registered<kernels::add_n, float>(KernelContext(), inputs, &same);
    expect_close<float>(same, expected);
  }
}

// 1 + 2^-9 + 2^-9 is 1 in bfloat16 step by step, but not when summed in float.
TEST(AddNKernel, SixteenBitFloatsSumInFloat) {
  const DenseTensor one = tensor<bfloat16>({1}, {1});
  const DenseTensor small = tensor<bfloat16>({0x1p-8}, {1});
  const DenseTensor* inputs[] = {&one, &small, &small};
  DenseTensor out = blank<bfloat16>({1});
  registered<kernels::add_n, bfloat16>(KernelContext(), inputs, &out);
  EXPECT_EQ(to_doubles(out)[0], 1 + 0x1p-7);
}

template <typename T, typename Kernel>
void check_comparison(Kernel kernel, bool (*oracle)(double, double)) {
  uint32_t seed = 1;
  for (const auto& [x_dims, y_dims] : shape_pairs()) {
    const Dims dims = broadcast_dims(x_dims, y_dims);
    Values xs = random_values(x_dims.numel(), ++seed, 0, 3);
    Values ys = random_values(y_dims.numel(), ++seed, 0, 3);
    for (Values* values : {&xs, &ys}) {
      for (double& v : *values) v = std::min(std::trunc(v), std::is_same_v<T, bool> ? 1.0 : 3.0);
    }
    Values expected(dims.numel());
    for (int64_t i = 0; i < dims.numel(); ++i) {
      expected[i] = oracle(broadcast_at(xs, x_dims, dims, i), broadcast_at(ys, y_dims, dims, i));
    }
    DenseTensor out = blank<bool>(dims);
    kernel(KernelContext(), tensor<T>(xs, x_dims), tensor<T>(ys, y_dims), &out);
    EXPECT_EQ(to_doubles(out), expected) << x_dims.to_string() << " with " << y_dims.to_string();
  }
}

template <typename T>
void check_comparisons() {
  check_comparison<T>(registered<kernels::equal, T>, [](double x, double y) { return x == y; });
  check_comparison<T>(registered<kernels::greater_equal, T>,
                      [](double x, double y) { return x >= y; });
  check_comparison<T>(registered<kernels::not_equal, T>, [](double x, double y) { return x != y; });
  check_comparison<T>(registered<kernels::greater_than, T>,
                      [](double x, double y) { return x > y; });
}

TEST(ComparisonKernels, EveryDtype) {
  check_comparisons<bool>();
  check_comparisons<uint8_t>();
  check_comparisons<int32_t>();
  check_comparisons<int64_t>();
  check_comparisons<float16>();
  check_comparisons<bfloat16>();
  check_comparisons<float>();
  check_comparisons<double>();
}

TEST(ComparisonKernels, NothingComparesWithNaN) {
  const DenseTensor x = tensor<float>({NAN, 1, NAN, INFINITY}, {4});
  const DenseTensor y = tensor<float>({NAN, NAN, 1, INFINITY}, {4});
  DenseTensor out = blank<bool>({4});
  registered<kernels::equal, float>(KernelContext(), x, y, &out);
  EXPECT_EQ(to_doubles(out), (Values{0, 0, 0, 1}));
  registered<kernels::greater_equal, float>(KernelContext(), x, y, &out);
  EXPECT_EQ(to_doubles(out), (Values{0, 0, 0, 1}));
  registered<kernels::greater_than, float>(KernelContext(), x, y, &out);
  EXPECT_EQ(to_doubles(out), (Values{0, 0, 0, 0}));
  registered<kernels::not_equal, float>(KernelContext(), x, y, &out);
  EXPECT_EQ(to_doubles(out), (Values{1, 1, 1, 0}));
}

// In every dtype each pair of rare floats gives what double gives, rounded once.
template <typename T>
void check_rare_pairs() {
  const RarePairs<T> pairs;
  const DenseTensor x = tensor<T>(pairs.x, pairs.dims()), y = tensor<T>(pairs.y, pairs.dims());
  const auto check = [&](const char* name, auto kernel, auto oracle) {
    DenseTensor out = blank<T>(pairs.dims());
    kernel(KernelContext(), x, y, &out);
    const Values got = to_doubles(out);
    for (size_t i = 0; i < got.size(); ++i) {
      expect_steps<T>(
          got[i], oracle(pairs.x[i], pairs.y[i]), 1,
          name + (" of " + std::to_string(pairs.x[i])) + " and " + std::to_string(pairs.y[i]));
    }
  };
  check("sum", registered<kernels::add, T>, [](double a, double b) { return a + b; });
  check("difference", registered<kernels::subtract, T>, [](double a, double b) { return a - b; });
  check("product", registered<kernels::multiply, T>, [](double a, double b) { return a * b; });
  check("quotient", registered<kernels::divide, T>, [](double a, double b) { return a / b; });
  check("maximum", registered<kernels::maximum, T>, [](double a, double b) {
    return std::isnan(a) ? a : std::isnan(b) ? b : std::max(a, b);
  });
  const auto compare = [&](auto kernel, auto oracle) {
    DenseTensor out = blank<bool>(pairs.dims());
    kernel(KernelContext(), x, y, &out);
    const Values got = to_doubles(out);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(got[i], oracle(pairs.x[i], pairs.y[i])) << pairs.x[i] << " and " << pairs.y[i];
  };
  compare(registered<kernels::equal, T>, [](double a, double b) { return a == b; });
  compare(registered<kernels::greater_equal, T>, [](double a, double b) { return a >= b; });
  compare(registered<kernels::not_equal, T>, [](double a, double b) { return a != b; });
  compare(registered<kernels::greater_than, T>, [](double a, double b) { return a > b; });
  const DenseTensor* both[] = {&x, &y};
  DenseTensor sum = blank<T>(pairs.dims()), same = sum.clone();
  registered<kernels::add, T>(KernelContext(), x, y, &sum);
  registered<kernels::add_n, T>(KernelContext(), both, &same);
  const Values sums = to_doubles(sum), sames = to_doubles(same);
  for (size_t i = 0; i < sums.size(); ++i) EXPECT_TRUE(same_number(sums[i], sames[i])) << i;
}

TEST(ElementwiseKernel, PairsOfRareFloats) {
  check_rare_pairs<float>();
  check_rare_pairs<double>();
  check_rare_pairs<float16>();
  check_rare_pairs<bfloat16>();
}

template <typename T>
void check_rare_integers() {
  for (const T a : rare_integers<T>()) {
    for (const T b : rare_integers<T>()) {
      const DenseTensor x = DenseTensor::from<T>(std::span(&a, 1), {1});
      const DenseTensor y = DenseTensor::from<T>(std::span(&b, 1), {1});
      const auto run = [&]<typename Out>(auto kernel, Out expected) {
        DenseTensor out = blank<Out>({1});
        kernel(KernelContext(), x, y, &out);
        EXPECT_EQ(out.values<Out>()[0], expected) << +a << " and " << +b;
      };
      const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
      run(registered<kernels::add, T>, static_cast<T>(ua + ub));
      run(registered<kernels::subtract, T>, static_cast<T>(ua - ub));
      run(registered<kernels::multiply, T>, static_cast<T>(ua * ub));
      run(registered<kernels::maximum, T>, std::max(a, b));
      run(registered<kernels::equal, T>, a == b);
      run(registered<kernels::greater_equal, T>, a >= b);
      run(registered<kernels::not_equal, T>, a != b);
      run(registered<kernels::greater_than, T>, a > b);
    }
  }
}

TEST(ElementwiseKernel, PairsOfRareIntegers) {
  check_rare_integers<uint8_t>();
  check_rare_integers<int32_t>();
  check_rare_integers<int64_t>();
}

// A choice moves bits: payloads of NaN, signs of zero and the other branch's NaN are no matter.
TEST(WhereKernel, MovesRareNumbersOfEveryDtype) {
  for (int t = 1; t < kNumRealDataTypes; ++t) {
    visit_dtype(static_cast<DataType>(t), []<typename T>() {
      const Dims dims{67};
      const DenseTensor x = rare_tensor<T>(dims), nothing = tensor<T>(Values(67, 1.0), dims);
      DenseTensor out = blank<T>(dims);
      registered<kernels::where, T>(KernelContext(), tensor<bool>(Values(67, 1.0), dims), x,
                                    nothing, &out);
      EXPECT_EQ(bits_of(out), bits_of(x)) << name_of(dtype_of<T>());
      registered<kernels::where, T>(KernelContext(), tensor<bool>(Values(67, 0.0), dims), nothing,
                                    x, &out);
      EXPECT_EQ(bits_of(out), bits_of(x)) << name_of(dtype_of<T>());
    });
  }
}

}  // namespace
}  // namespace phi::testing
