// spectral_norm and its gradient on the CPU.
#include <cmath>
#include <utility>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image_norm.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

/// weight as the matrix [extent of `dim`, all others], in double: `outer` blocks of `rows` runs of
/// `inner` contiguous elements. If `dim` is the last one, runs would have one element, so the array
/// is treated as one block of the transposed matrix.
class Matrix {
 public:
  template <typename T>
  Matrix(const DenseTensor& weight, const T* values, int dim) : values_(weight.numel()) {
    const int axis = normalise_axis(dim, weight.ndim(), weight.dims());
    convert(values, values_.data(), weight.numel());
    outer_ = weight.dims().numel(0, axis);
    rows_ = weight.dims()[axis];
    inner_ = weight.dims().numel(axis + 1, weight.ndim());
    is_transposed_ = inner_ == 1;
    if (!is_transposed_) return;
    inner_ = rows_;
    rows_ = outer_;
    outer_ = 1;
  }

  std::vector<double> times(const std::vector<double>& v) const {
    return is_transposed_ ? by_runs(v) : by_rows(v);
  }
  std::vector<double> transposed_times(const std::vector<double>& u) const {
    return is_transposed_ ? by_rows(u) : by_runs(u);
  }
  /// Calls f(offset of a run, its number of elements, its row's element of u, its columns' elements
  /// of v) for each run. u has an element per row and v one per column.
  template <typename F>
  void for_each_run(const double* u, const double* v, F f) const {
    if (is_transposed_) std::swap(u, v);
    int64_t at = 0;
    for (int64_t o = 0; o < outer_; ++o) {
      for (int64_t r = 0; r < rows_; ++r, at += inner_) f(at, inner_, u[r], v + o * inner_);
    }
  }
  const double* values() const { return values_.data(); }

 private:
  /// Returns a number per row: its dot product with x, which has an element per column.
  std::vector<double> by_rows(const std::vector<double>& x) const {
    std::vector<double> result(static_cast<size_t>(rows_));
    const double* run = values_.data();
    for (int64_t o = 0; o < outer_; ++o) {
      const double* with = x.data() + o * inner_;
      for (int64_t r = 0; r < rows_; ++r, run += inner_)
        result[r] += row_sum<double>(inner_, [=](int64_t i) { return run[i] * with[i]; });
    }
    return result;
  }
  /// Returns a number per column: the sum of the rows, each multiplied by its element of x.
  std::vector<double> by_runs(const std::vector<double>& x) const {
    std::vector<double> result(static_cast<size_t>(outer_ * inner_));
    const double* run = values_.data();
    for (int64_t o = 0; o < outer_; ++o) {
      double* to = result.data() + o * inner_;
      for (int64_t r = 0; r < rows_; ++r, run += inner_) {
        const double factor = x[r];
#pragma GCC ivdep
        for (int64_t i = 0; i < inner_; ++i) to[i] += run[i] * factor;
      }
    }
    return result;
  }

  std::vector<double> values_;
  int64_t outer_, rows_, inner_;
  bool is_transposed_;
};

double inner_product(const std::vector<double>& x, const std::vector<double>& y) {
  return row_sum<double>(static_cast<int64_t>(x.size()), [&](int64_t i) { return x[i] * y[i]; });
}

std::vector<double> normalised(std::vector<double> x, double eps) {
  const double length = std::sqrt(inner_product(x, x)) + eps;
  for (double& value : x) value /= length;
  return x;
}

/// The singular vectors after some steps of the power method, and sigma = u^T weight v.
struct LargestSingularValue {
  std::vector<double> u;
  std::vector<double> v;
  double sigma;
};

template <typename T>
LargestSingularValue largest_of(const Matrix& weight, const DenseTensor& u, const DenseTensor& v,
                                int iterations, double eps) {
  LargestSingularValue found{std::vector<double>(u.numel()), std::vector<double>(v.numel()), 0};
  convert(u.data<T>(), found.u.data(), u.numel());
  convert(v.data<T>(), found.v.data(), v.numel());
  for (int i = 0; i < iterations; ++i) {
    found.v = normalised(weight.transposed_times(found.u), eps);
    found.u = normalised(weight.times(found.v), eps);
  }
  found.sigma = inner_product(found.u, weight.times(found.v));
  return found;
}

}  // namespace

/// out = weight / sigma, where sigma is the largest singular value of weight as a matrix whose rows
/// are along `dim`. Miyato et al.: Spectral Normalization, 2018.
template <typename T, typename Context>
void SpectralNormKernel(const Context&, const DenseTensor& weight, const DenseTensor& u,
                        const DenseTensor& v, int dim, int power_iters, float eps,
                        DenseTensor* out) {
  const Matrix matrix(weight, weight.data<T>(), dim);
  const LargestSingularValue found = largest_of<T>(matrix, u, v, power_iters, eps);
  T* to = out->mutable_data<T>();
  const double* from = matrix.values();
  const double factor = 1 / found.sigma;
  for (int64_t i = 0; i < weight.numel(); ++i) to[i] = convert_value<T>(from[i] * factor);
}

/// weight_grad = (out_grad - <out_grad, weight> / sigma * u v^T) / sigma, with u and v as
/// constants.
template <typename T, typename Context>
void SpectralNormGradKernel(const Context&, const DenseTensor& weight, const DenseTensor& u,
                            const DenseTensor& v, const DenseTensor& out_grad, int dim,
                            int power_iters, float eps, DenseTensor* weight_grad) {
  const Matrix matrix(weight, weight.data<T>(), dim);
  const Matrix given(weight, out_grad.data<T>(), dim);
  const LargestSingularValue found = largest_of<T>(matrix, u, v, power_iters, eps);
  const double* gs = given.values();
  const double* weights = matrix.values();
  const double product =
      row_sum<double>(weight.numel(), [=](int64_t i) { return gs[i] * weights[i]; });
  T* to = weight_grad->mutable_data<T>();
  const double factor = 1 / found.sigma;
  matrix.for_each_run(found.u.data(), found.v.data(),
                      [=](int64_t at, int64_t n, double of_row, const double* of_columns) {
                        const double along = product * factor * of_row;
                        for (int64_t i = 0; i < n; ++i)
                          to[at + i] =
                              convert_value<T>((gs[at + i] - along * of_columns[i]) * factor);
                      });
}

PHI_REGISTER_KERNEL(spectral_norm, CPU, SpectralNormKernel, Floats);
PHI_REGISTER_KERNEL(spectral_norm_grad, CPU, SpectralNormGradKernel, Floats);

}  // namespace phi
