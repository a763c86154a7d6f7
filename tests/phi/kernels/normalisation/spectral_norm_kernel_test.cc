// spectral_norm against plain loops in double, with the matrix's rows along every dim.
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/image_norm.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

constexpr float kEps = 1e-12f;

/// weight as rows along `dim`, and what a kernel must make of it.
struct Case {
  Case(const Dims& weight_dims, int along) : dims(weight_dims), dim(along) {
    rows = dims[dim];
    columns = dims.numel() / rows;
    weight = random_values(dims.numel(), 3);
    u = random_values(rows, 4);
    v = random_values(columns, 5);
  }
  int64_t row_of(int64_t i) const { return i / dims.numel(dim + 1, dims.ndim()) % rows; }
  int64_t column_of(int64_t i) const {
    const int64_t inner = dims.numel(dim + 1, dims.ndim());
    return i / (inner * rows) * inner + i % inner;
  }
  /// Steps of the power method; sigma.
  double run(int steps) {
    for (int s = 0; s < steps; ++s) {
      v = Values(columns, 0.0);
      for (int64_t i = 0; i < dims.numel(); ++i) v[column_of(i)] += weight[i] * u[row_of(i)];
      normalise(&v);
      u = Values(rows, 0.0);
      for (int64_t i = 0; i < dims.numel(); ++i) u[row_of(i)] += weight[i] * v[column_of(i)];
      normalise(&u);
    }
    double sigma = 0;
    for (int64_t i = 0; i < dims.numel(); ++i) sigma += u[row_of(i)] * weight[i] * v[column_of(i)];
    return sigma;
  }
  static void normalise(Values* x) {
    double sum = 0;
    for (const double value : *x) sum += value * value;
    for (double& value : *x) value /= std::sqrt(sum) + double{kEps};
  }

  Dims dims;
  int dim;
  int64_t rows, columns;
  Values weight, u, v;
};

template <typename T>
void check(const Dims& dims, int dim) {
  Case c(dims, dim);
  const DenseTensor weight = tensor<T>(c.weight, dims);
  const DenseTensor u = tensor<T>(c.u, {c.rows});
  const DenseTensor v = tensor<T>(c.v, {c.columns});
  const Values grads = random_values(dims.numel(), 6);
  DenseTensor out = blank<T>(dims);
  DenseTensor dweight = blank<T>(dims);
  registered<kernels::spectral_norm, T>(KernelContext(), weight, u, v, dim, 2, kEps, &out);
  registered<kernels::spectral_norm_grad, T>(KernelContext(), weight, u, v, tensor<T>(grads, dims),
                                             dim, 2, kEps, &dweight);
  const double sigma = c.run(2);
  double product = 0;
  for (size_t i = 0; i < grads.size(); ++i) product += grads[i] * c.weight[i];
  Values expected, gradient;
  for (int64_t i = 0; i < dims.numel(); ++i) {
    expected.push_back(c.weight[i] / sigma);
    const double along = product / sigma * c.u[c.row_of(i)] * c.v[c.column_of(i)];
    gradient.push_back((grads[i] - along) / sigma);
  }
  const std::string what = fmt::format("{} along {}", dims.to_string(), dim);
  expect_close(to_doubles(out), expected, tolerance<T>(), "spectral_norm of " + what);
  expect_close(to_doubles(dweight), gradient, 2 * tolerance<T>(), "its gradient of " + what);
}

TEST(SpectralNormKernel, IsThatOfPlainLoops) {
  for (const Dims& dims : {Dims{4, 3}, Dims{3, 70}, Dims{2, 3, 4, 5}, Dims{1, 6}, Dims{6, 1}}) {
    for (int dim = 0; dim < dims.ndim(); ++dim) {
      check<float>(dims, dim);
      check<double>(dims, dim);
    }
  }
}

}  // namespace
}  // namespace phi::testing
