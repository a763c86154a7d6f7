// weight_only_linear and its gradient against plain loops in double: few rows of x and many,
// extents that are no multiple of what is done at once, groups, biases, and every dtype.
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/quantized.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

struct Case {
  int64_t m;
  int64_t n;
  int64_t k;
  int group_size;

  int64_t rows() const { return group_size > 0 ? group_size : std::max<int64_t>(k, 1); }
  int64_t groups() const { return std::max<int64_t>(1, (k + rows() - 1) / rows()); }
  std::string what() const {
    return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
           " in groups of " + std::to_string(group_size);
  }
};

struct Drawn {
  explicit Drawn(const Case& c)
      : x(random_values(c.m * c.k, 1)),
        bias(random_values(c.n, 2)),
        out_grad(random_values(c.m * c.n, 3)),
        weight(random_values(c.n * c.k, 4, -127, 127)),
        scale(random_values(c.groups() * c.n, 5, 0.25, 1)) {
    for (double& w : weight) w = std::round(w);
    for (double& s : scale) s /= 64;
  }
  double weight_at(const Case& c, int64_t column, int64_t i) const {
    return weight[column * c.k + i] * scale[i / c.rows() * c.n + column];
  }
  Values x, bias, out_grad, weight, scale;
};

Values linear(const Case& c, const Drawn& drawn, bool has_bias) {
  Values out;
  for (int64_t r = 0; r < c.m; ++r) {
    for (int64_t column = 0; column < c.n; ++column) {
      double sum = has_bias ? drawn.bias[column] : 0;
      for (int64_t i = 0; i < c.k; ++i) sum += drawn.x[r * c.k + i] * drawn.weight_at(c, column, i);
      out.push_back(sum);
    }
  }
  return out;
}

Values linear_grad(const Case& c, const Drawn& drawn) {
  Values x_grad(c.m * c.k, 0);
  for (int64_t r = 0; r < c.m; ++r) {
    for (int64_t column = 0; column < c.n; ++column) {
      for (int64_t i = 0; i < c.k; ++i) {
        x_grad[r * c.k + i] += drawn.out_grad[r * c.n + column] * drawn.weight_at(c, column, i);
      }
    }
  }
  return x_grad;
}

template <typename T>
void check(const Case& c) {
  using C = compute_t<T>;
  const Drawn drawn(c);
  const DenseTensor x = tensor<T>(drawn.x, {c.m, c.k});
  const DenseTensor weight = tensor<int8_t>(drawn.weight, {c.n, c.k});
  const DenseTensor bias = tensor<T>(drawn.bias, {c.n});
  const DenseTensor scale = tensor<C>(drawn.scale, {c.groups(), c.n});
  const std::string what = c.what() + " " + std::string(name_of(dtype_of<T>()));
  for (const bool has_bias : {false, true}) {
    DenseTensor out = blank<T>({c.m, c.n});
    registered<kernels::weight_only_linear, T>(
        KernelContext(), x, weight, has_bias ? &bias : nullptr, scale, c.group_size, &out);
    expect_close(to_doubles(out), linear(c, drawn, has_bias), 4 * tolerance<T>(), what);
  }
  DenseTensor x_grad = blank<T>({c.m, c.k});
  registered<kernels::weight_only_linear_grad, T>(
      KernelContext(), weight, scale, tensor<T>(drawn.out_grad, {c.m, c.n}), c.group_size, &x_grad);
  expect_close(to_doubles(x_grad), linear_grad(c, drawn), 4 * tolerance<T>(), what + " gradient");
}

void check_all(const Case& c) {
  check<float>(c), check<double>(c), check<float16>(c), check<bfloat16>(c);
}

TEST(WeightOnlyLinearKernel, EveryCountOfRows) {
  for (int64_t m = 1; m <= 20; ++m) check_all({m, 37, 131, -1});
  for (const int64_t m : {32, 33, 70}) check_all({m, 131, 67, -1});
}

TEST(WeightOnlyLinearKernel, EveryKindOfGroup) {
  for (const int64_t m : {1, 3, 6, 40}) {
    for (const int size : {1, 7, 64, 65, 100, 500}) check_all({m, 33, 201, size});
  }
}

// More than what is widened at a time.
TEST(WeightOnlyLinearKernel, LongRowsAndMany) {
  check<float>({40, 1030, 20, 7}), check<bfloat16>({3, 600, 70, -1});
  check<float>({33, 3, 2100, -1}), check<double>({17, 3, 1100, -1});
  check<bfloat16>({17, 3, 4200, -1}), check<float>({40, 2, 4500, 4200});
}

TEST(WeightOnlyLinearKernel, NothingToAddUp) {
  for (const int64_t m : {0, 1, 50}) check_all({m, 5, 0, -1});
  check_all({3, 0, 70, -1}), check_all({50, 0, 7, 3}), check_all({2, 5, 1, -1});
}

// What an element of x is shows in its row alone.
TEST(WeightOnlyLinearKernel, NotFinite) {
  const Case c{6, 9, 70, -1};
  for (const double rare : {double{NAN}, double{INFINITY}}) {
    Drawn drawn(c);
    drawn.x[2 * c.k + 69] = rare;
    DenseTensor out = blank<float>({c.m, c.n});
    registered<kernels::weight_only_linear, float>(
        KernelContext(), tensor<float>(drawn.x, {c.m, c.k}),
        tensor<int8_t>(Values(c.n * c.k, 3), {c.n, c.k}), nullptr,
        tensor<float>(drawn.scale, {c.groups(), c.n}), -1, &out);
    for (int64_t i = 0; i < c.m * c.n; ++i)
      EXPECT_EQ(std::isfinite(to_doubles(out)[i]), i / c.n != 2);
  }
}

}  // namespace
}  // namespace phi::testing
