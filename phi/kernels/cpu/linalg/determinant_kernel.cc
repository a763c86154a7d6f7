// Determinants, and the logarithms of their magnitude.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/kernels/cpu/linalg/lapack.h"

namespace phi {
namespace {

using linalg::adjoint;
using linalg::Lu;
using linalg::Matrix;

/// -1 for an odd number of swaps.
template <typename T>
T sign_of_swaps(const Lu<T>& lu) {
  T sign = 1;
  for (size_t i = 0; i < lu.pivots.size(); ++i) {
    if (lu.pivots[i] != static_cast<int>(i) + 1) sign = -sign;
  }
  return sign;
}

template <typename T>
T determinant(const Lu<T>& lu) {
  T product = sign_of_swaps(lu);
  for (int64_t i = 0; i < lu.factors.rows(); ++i) product *= lu.factors(i, i);
  return product;
}

/// The determinant's magnitude, as a logarithm, and what is left of it, of magnitude 1 or 0.
template <typename T>
struct SignAndLog {
  T sign;
  real_t<T> log;
};
template <typename T>
SignAndLog<T> sign_and_log(const Lu<T>& lu) {
  SignAndLog<T> result{sign_of_swaps(lu), 0};
  for (int64_t i = 0; i < lu.factors.rows(); ++i) {
    const T x = lu.factors(i, i);
    using std::abs;
    const real_t<T> magnitude = abs(x);
    result.sign *= magnitude == 0 ? T(0) : x / magnitude;
    result.log += std::log(magnitude);
  }
  return result;
}

/// Of u's rows, those of zeros.
template <typename T>
int64_t zero_rows(const Matrix<T>& u) {
  int64_t count = 0;
  for (int64_t i = 0; i < u.rows(); ++i) {
    bool zero = true;
    for (int64_t j = i; j < u.columns(); ++j) zero = zero && u(i, j) == T(0);
    count += zero;
  }
  return count;
}

/// The adjoint of a's adjugate, its determinant's gradient: conj(det) a^-H, and where there is no
/// inverse by singular values, in whose products each leaves out its own. Two rows less than the
/// full rank make it zero, of which singular values would leave what they were rounded to.
template <typename T>
Matrix<T> cofactors(const Matrix<T>& a) {
  const Lu<T> lu = lu_factor(adjoint(a));
  const int64_t n = a.rows();
  if (lu.info == 0) {
    const T det = determinant(lu);
    return scale_columns(lu_solve(lu, Matrix<T>::identity(n)), std::vector<T>(n, det));
  }
  if (zero_rows(lu.factors) > 1) return Matrix<T>(n, n);
  const auto parts = linalg::svd(a, 'S');
  std::vector<T> products(static_cast<size_t>(n));
  const T sign =
      linalg::conjugate(determinant(lu_factor(parts.u)) * determinant(lu_factor(parts.vh)));
  for (size_t i = 0; i < products.size(); ++i) {
    products[i] = sign;
    for (size_t j = 0; j < products.size(); ++j) {
      if (j != i) products[i] *= parts.s[j];
    }
  }
  return scale_columns(parts.u, products) * parts.vh;
}

template <typename T>
Matrix<T> times(Matrix<T> x, T factor) {
  return x.for_each([factor](int64_t, int64_t, T& to) { to *= factor; });
}

}  // namespace

template <typename T, typename Context>
void DetKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  T* to = out->mutable_data<T>();
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    to[b] = determinant(lu_factor(linalg::matrix_of<T>(x, b)));
  }
}

template <typename T, typename Context>
void DetGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out_grad,
                   DenseTensor* x_grad) {
  const T* g = out_grad.data<T>();
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    linalg::put_matrix(times(cofactors(linalg::matrix_of<T>(x, b)), g[b]), b, x_grad);
  }
}

/// All signs, then all logarithms. Of a singular matrix 0 and -inf.
template <typename T, typename Context>
void SlogdetKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const int64_t count = linalg::matrices_in(x.dims());
  T* to = out->mutable_data<T>();
  for (int64_t b = 0; b < count; ++b) {
    const auto [sign, log] = sign_and_log(lu_factor(linalg::matrix_of<T>(x, b)));
    to[b] = sign;
    to[count + b] = log;
  }
}

/// The logarithm's gradient times x^-H; of a complex sign, which turns, its own too. There is none
/// of a singular matrix: NaN and infinities.
template <typename T, typename Context>
void SlogdetGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out_grad,
                       DenseTensor* x_grad) {
  const int64_t count = linalg::matrices_in(x.dims());
  const T* g = out_grad.data<T>();
  for (int64_t b = 0; b < count; ++b) {
    const auto a = linalg::matrix_of<T>(x, b);
    const auto inverse = lu_solve(lu_factor(adjoint(a)), Matrix<T>::identity(a.rows()));
    T factor = real_part(g[count + b]);
    if constexpr (kIsComplex<T>) {
      factor -= T(0, (conj(g[b]) * sign_and_log(lu_factor(a)).sign).imag());
    }
    linalg::put_matrix(times(inverse, factor), b, x_grad);
  }
}

PHI_REGISTER_KERNEL(det, CPU, DetKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(det_grad, CPU, DetGradKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(slogdet, CPU, SlogdetKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(slogdet_grad, CPU, SlogdetGradKernel, linalg::MatrixTypes);

}  // namespace phi
