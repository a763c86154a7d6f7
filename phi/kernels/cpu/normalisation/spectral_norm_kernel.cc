// spectral_norm and its gradient on the CPU.
#include <cmath>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image_norm.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

/// weight as the matrix [outer extents of `dim` first]: element (r, (o, i)) lies at
/// (o * rows + r) * inner + i. All in double.
class Matrix {
 public:
  template <typename T>
  Matrix(const DenseTensor& weight, const T* values, int dim) : values_(weight.numel()) {
    const int axis = normalise_axis(dim, weight.ndim(), weight.dims());
    convert(values, values_.data(), weight.numel());
    outer_ = weight.dims().numel(0, axis);
    rows_ = weight.dims()[axis];
    inner_ = weight.dims().numel(axis + 1, weight.ndim());
  }
  int64_t columns() const { return outer_ * inner_; }

  /// Calls f(row, column, element's place).
  template <typename F>
  void for_each(F f) const {
    int64_t at = 0;
    for (int64_t o = 0; o < outer_; ++o) {
      for (int64_t r = 0; r < rows_; ++r) {
        for (int64_t i = 0; i < inner_; ++i) f(r, o * inner_ + i, at++);
      }
    }
  }
  std::vector<double> times(const std::vector<double>& v) const {
    std::vector<double> result(rows_);
    for_each([&](int64_t r, int64_t c, int64_t at) { result[r] += values_[at] * v[c]; });
    return result;
  }
  std::vector<double> transposed_times(const std::vector<double>& u) const {
    std::vector<double> result(columns());
    for_each([&](int64_t r, int64_t c, int64_t at) { result[c] += values_[at] * u[r]; });
    return result;
  }
  double operator[](int64_t at) const { return values_[at]; }

 private:
  std::vector<double> values_;
  int64_t outer_, rows_, inner_;
};

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  return row_sum<double>(static_cast<int64_t>(x.size()), [&](int64_t i) { return x[i] * y[i]; });
}

std::vector<double> normalised(std::vector<double> x, double eps) {
  const double length = std::sqrt(dot(x, x)) + eps;
  for (double& value : x) value /= length;
  return x;
}

/// The singular vectors after some steps of the power method, and sigma = u^T weight v.
struct Largest {
  std::vector<double> u;
  std::vector<double> v;
  double sigma;
};

template <typename T>
Largest largest_of(const Matrix& weight, const DenseTensor& u, const DenseTensor& v, int iterations,
                   double eps) {
  Largest found{std::vector<double>(u.numel()), std::vector<double>(v.numel()), 0};
  convert(u.data<T>(), found.u.data(), u.numel());
  convert(v.data<T>(), found.v.data(), v.numel());
  for (int i = 0; i < iterations; ++i) {
    found.v = normalised(weight.transposed_times(found.u), eps);
    found.u = normalised(weight.times(found.v), eps);
  }
  found.sigma = dot(found.u, weight.times(found.v));
  return found;
}

}  // namespace

/// out = weight / sigma, the largest singular value of weight as a matrix whose rows are along
/// `dim`. Miyato et al.: Spectral Normalization, 2018.
template <typename T, typename Context>
void SpectralNormKernel(const Context&, const DenseTensor& weight, const DenseTensor& u,
                        const DenseTensor& v, int dim, int power_iters, float eps,
                        DenseTensor* out) {
  const Matrix matrix(weight, weight.data<T>(), dim);
  const Largest found = largest_of<T>(matrix, u, v, power_iters, eps);
  T* to = out->mutable_data<T>();
  for (int64_t i = 0; i < weight.numel(); ++i) to[i] = convert_value<T>(matrix[i] / found.sigma);
}

/// u and v count as constants: weight_grad = (out_grad - <out_grad, weight> / sigma * u v^T) /
/// sigma.
template <typename T, typename Context>
void SpectralNormGradKernel(const Context&, const DenseTensor& weight, const DenseTensor& u,
                            const DenseTensor& v, const DenseTensor& out_grad, int dim,
                            int power_iters, float eps, DenseTensor* weight_grad) {
  const Matrix matrix(weight, weight.data<T>(), dim);
  const Matrix given(weight, out_grad.data<T>(), dim);
  const Largest found = largest_of<T>(matrix, u, v, power_iters, eps);
  double product = 0;
  for (int64_t i = 0; i < weight.numel(); ++i) product += given[i] * matrix[i];
  T* to = weight_grad->mutable_data<T>();
  matrix.for_each([&](int64_t r, int64_t c, int64_t at) {
    const double along = product / found.sigma * found.u[r] * found.v[c];
    to[at] = convert_value<T>((given[at] - along) / found.sigma);
  });
}

PHI_REGISTER_KERNEL(spectral_norm, CPU, SpectralNormKernel, Floats);
PHI_REGISTER_KERNEL(spectral_norm_grad, CPU, SpectralNormGradKernel, Floats);

}  // namespace phi
