// Determinants, and the logarithms of their magnitudes, on the CPU.
#include <span>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/kernels/cpu/linalg/lapack.h"
#include "phi/kernels/cpu/linalg/small_matrices.h"

namespace phi {
namespace {

using linalg::adjoint;
using linalg::Lu;
using linalg::Matrix;

/// Returns -1 if the number of swaps is odd, else 1.
template <typename T>
T sign_of_swaps(const Lu<T>& lu) {
  T sign = 1;
  for (size_t i = 0; i < lu.pivots.size(); ++i) {
    if (lu.pivots[i] != static_cast<int>(i) + 1) sign = -sign;
  }
  return sign;
}

/// Returns numbers whose product is the determinant.
template <typename T>
std::vector<T> diagonal(const Lu<T>& lu) {
  std::vector<T> numbers;
  for (int64_t i = 0; i < lu.factors.rows(); ++i) numbers.push_back(lu.factors(i, i));
  if (!numbers.empty()) numbers[0] *= sign_of_swaps(lu);
  return numbers;
}

template <typename T>
T product(std::span<const T> numbers) {
  T product = 1;
  for (const T x : numbers) product *= x;
  return product;
}

template <typename T>
T determinant(const Lu<T>& lu) {
  return product<T>(diagonal(lu));
}

/// A product as the logarithm of its magnitude and its sign, a number of magnitude 1 or 0.
template <typename T>
struct SignAndLog {
  T sign = 1;
  real_t<T> log = 0;
};
template <typename T>
SignAndLog<T> sign_and_log(std::span<const T> numbers) {
  SignAndLog<T> result;
  for (const T x : numbers) {
    using std::abs;
    const real_t<T> magnitude = abs(x);
    result.sign *= magnitude == 0 ? T(0) : x / magnitude;
    result.log += std::log(magnitude);
  }
  return result;
}

/// Calls f(b, numbers) for each matrix b of x; the product of `numbers` is the determinant.
template <typename T, typename F>
void for_each_diagonal(const DenseTensor& x, F f) {
  const int64_t n = linalg::rows_of(x), count = linalg::matrices_in(x.dims());
  std::vector<T> diagonals(static_cast<size_t>(count * n));
  if (linalg::small_diagonals<T>({x.data<T>(), n, count}, diagonals.data())) {
    for (int64_t b = 0; b < count; ++b) f(b, std::span<const T>(diagonals.data() + b * n, n));
    return;
  }
  for (int64_t b = 0; b < count; ++b) {
    f(b, std::span<const T>(diagonal(lu_factor(linalg::matrix_of<T>(x, b)))));
  }
}

/// Sets `out` to x^-H of each matrix. Returns false, with `out` undefined, if matrices are not
/// small or one is singular.
template <typename T>
bool find_adjoint_inverses(const DenseTensor& x, T* out) {
  const auto singular = linalg::small_inverse<T>(
      {x.data<T>(), linalg::rows_of(x), linalg::matrices_in(x.dims()), /*transposed=*/true}, out);
  return singular == -1;
}

/// Multiplies matrix b of an array of n x n matrices by `factor`.
template <typename T>
void scale_matrix(T* x, int64_t b, int64_t n, T factor) {
  for (int64_t i = b * n * n; i < (b + 1) * n * n; ++i) x[i] *= factor;
}

/// Returns the number of rows of u that are zero.
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

/// Returns the adjoint of a's adjugate, the gradient of its determinant. That is conj(det) a^-H if
/// a is invertible. Otherwise it is computed from singular values; each product omits one of them.
/// If the rank is two less than full, the gradient is zero; it is set exactly, because singular
/// values would leave rounding errors.
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
  const T sign = conjugate(determinant(lu_factor(parts.u)) * determinant(lu_factor(parts.vh)));
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
  for_each_diagonal<T>(x, [to](int64_t b, auto numbers) { to[b] = product(numbers); });
}

template <typename T, typename Context>
void DetGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out_grad,
                   DenseTensor* x_grad) {
  const T* g = out_grad.data<T>();
  if (T* to = x_grad->mutable_data<T>(); find_adjoint_inverses(x, to)) {
    return for_each_diagonal<T>(x, [=, n = linalg::rows_of(x)](int64_t b, auto numbers) {
      scale_matrix(to, b, n, product(numbers) * g[b]);
    });
  }
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    linalg::put_matrix(times(cofactors(linalg::matrix_of<T>(x, b)), g[b]), b, x_grad);
  }
}

/// out has all signs, then all logarithms. A singular matrix gives 0 and -inf.
template <typename T, typename Context>
void SlogdetKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const int64_t count = linalg::matrices_in(x.dims());
  T* to = out->mutable_data<T>();
  for_each_diagonal<T>(x, [=](int64_t b, auto numbers) {
    const auto [sign, log] = sign_and_log(numbers);
    to[b] = sign;
    to[count + b] = log;
  });
}

/// x_grad is the logarithm's gradient times x^-H. If x is complex, the gradient of the sign's phase
/// is added. For a singular matrix it is not defined: NaN and infinities.
template <typename T, typename Context>
void SlogdetGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out_grad,
                       DenseTensor* x_grad) {
  const int64_t count = linalg::matrices_in(x.dims());
  const T* g = out_grad.data<T>();
  if (T* to = x_grad->mutable_data<T>(); find_adjoint_inverses(x, to)) {
    for (int64_t b = 0; b < count; ++b) scale_matrix(to, b, linalg::rows_of(x), g[count + b]);
    return;
  }
  for (int64_t b = 0; b < count; ++b) {
    const auto a = linalg::matrix_of<T>(x, b);
    const auto inverse = lu_solve(lu_factor(adjoint(a)), Matrix<T>::identity(a.rows()));
    T factor = real_part(g[count + b]);
    if constexpr (kIsComplex<T>) {
      factor -= T(0, (conj(g[b]) * sign_and_log<T>(diagonal(lu_factor(a))).sign).imag());
    }
    linalg::put_matrix(times(inverse, factor), b, x_grad);
  }
}

PHI_REGISTER_KERNEL(det, CPU, DetKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(det_grad, CPU, DetGradKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(slogdet, CPU, SlogdetKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(slogdet_grad, CPU, SlogdetGradKernel, linalg::MatrixTypes);

}  // namespace phi
