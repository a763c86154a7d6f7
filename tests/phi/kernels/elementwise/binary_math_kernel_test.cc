// Functions of two floats against the standard library in double precision: ordinary numbers
// closely; all pairs of special ones, and quotients far from 1, as it has them.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/binary.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

using Kernel = void (*)(const KernelContext&, const DenseTensor&, const DenseTensor&, DenseTensor*);
using Oracle = double (*)(double, double);

double python_remainder(double x, double y) {
  const double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

struct Function {
  const char* name;
  Kernel kernel;
  Oracle oracle;
  double limit;
};

const std::vector<Function>& functions() {
  static const std::vector<Function> all = {
      {"pow", registered<kernels::elementwise_pow, float>, std::pow, 1.2e-7},
      {"atan2", registered<kernels::atan2, float>, std::atan2, 3e-7},
      {"remainder", registered<kernels::remainder, float>, python_remainder, 0},
  };
  return all;
}

void expect_close(const Function& function, const Values& xs, const Values& ys) {
  const auto n = static_cast<int64_t>(xs.size());
  const DenseTensor x = tensor<float>(xs, {n});
  const DenseTensor y = tensor<float>(ys, {n});
  DenseTensor out = blank<float>({n});
  function.kernel(KernelContext(), x, y, &out);
  const Values got = to_doubles(out);
  const Values a = to_doubles(x), b = to_doubles(y);
  for (size_t i = 0; i < xs.size(); ++i) {
    const auto expected = static_cast<float>(function.oracle(a[i], b[i]));
    const double step =
        std::max(std::abs(expected), std::numeric_limits<float>::min()) * function.limit;
    const bool same = std::isnan(expected)
                          ? std::isnan(got[i])
                          : got[i] == expected || std::abs(got[i] - expected) <= step;
    EXPECT_TRUE(same) << function.name << "(" << a[i] << ", " << b[i] << ") is " << got[i]
                      << " for " << expected;
    if (expected == 0) {
      EXPECT_EQ(std::signbit(got[i]), std::signbit(expected))
          << function.name << "(" << a[i] << ", " << b[i] << ")";
    }
  }
}

TEST(BinaryMathKernel, OrdinaryNumbers) {
  Values xs, ys;
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 200; ++j) {
      xs.push_back(0.01 + 0.0731 * i);
      ys.push_back(-9.03 + 0.0917 * j);
    }
  }
  for (const Function& function : functions()) {
    expect_close(function, xs, ys);
    expect_close(function, ys, xs);
  }
}

TEST(BinaryMathKernel, SpecialNumbers) {
  const Values numbers = {NAN,   INFINITY,   -INFINITY, 0.0,    -0.0,    1.0,   -1.0,
                          2.0,   -2.0,       3.0,       -3.0,   0.5,     -0.5,  2.5,
                          -2.5,  1e30,       -1e30,     3.4e38, -3.4e38, 1e-42, -1e-42,
                          1e-30, 16777215.0, 5e9,       0.1,    -0.7};
  Values xs, ys;
  for (double x : numbers) {
    for (double y : numbers) {
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  for (const Function& function : functions()) expect_close(function, xs, ys);
}

// Whole powers come out exact, as do quotients that are whole.
TEST(BinaryMathKernel, WholeNumbersStayWhole) {
  const DenseTensor x = tensor<float>({3, -3, 7, 2, 10, -5}, {6});
  const DenseTensor y = tensor<float>({5, 5, 4, 23, 6, 3}, {6});
  DenseTensor out = blank<float>({6});
  registered<kernels::elementwise_pow, float>(KernelContext(), x, y, &out);
  EXPECT_EQ(to_doubles(out), (Values{243, -243, 2401, 8388608, 1000000, -125}));
  const DenseTensor product = tensor<float>({15, -15, 28, 46, 60, -15}, {6});
  registered<kernels::floor_divide, float>(KernelContext(), product, y, &out);
  EXPECT_EQ(to_doubles(out), (Values{3, -3, 7, 2, 10, -5}));
}

/// All pairs of rare numbers, numbers with random bits, and pairs of neighbours.
template <typename T, typename Bits>
void check_next_after() {
  std::vector<T> xs, ys;
  for (const T x : rare_numbers<T>()) {
    for (const T y : rare_numbers<T>()) {
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const T x = std::bit_cast<T>(static_cast<Bits>(random()));
    const T y = std::bit_cast<T>(static_cast<Bits>(random()));
    for (const T to : {y, -x, x, std::nextafter(x, y)}) {
      xs.push_back(x);
      ys.push_back(to);
    }
  }
  const auto n = static_cast<int64_t>(xs.size());
  DenseTensor out = blank<T>({n});
  registered<kernels::nextafter, T>(KernelContext(), DenseTensor::from<T>(xs, {n}),
                                    DenseTensor::from<T>(ys, {n}), &out);
  for (size_t i = 0; i < xs.size(); ++i) {
    const T got = out.values<T>()[i];
    const T expected = std::nextafter(xs[i], ys[i]);
    const bool same = std::isnan(expected)
                          ? std::isnan(got)
                          : std::bit_cast<Bits>(got) == std::bit_cast<Bits>(expected);
    EXPECT_TRUE(same) << xs[i] << " to " << ys[i] << " is " << got << " for " << expected;
  }
}

TEST(BinaryMathKernel, NextAfterIsTheStandardLibrarys) {
  check_next_after<float, uint32_t>();
  check_next_after<double, uint64_t>();
}

}  // namespace
}  // namespace phi::testing
