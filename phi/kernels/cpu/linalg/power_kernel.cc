// Matrix powers by repeated squaring, on the CPU.
#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/kernels/cpu/linalg/lapack.h"

namespace phi {
namespace {

using linalg::adjoint;
using linalg::Matrix;

/// Returns |n|, also for the smallest int.
uint32_t magnitude(int n) {
  return n < 0 ? 0U - static_cast<uint32_t>(n) : static_cast<uint32_t>(n);
}

/// Errors   InvalidArgument if the matrix, the b-th of x, is singular.
template <typename T>
Matrix<T> inverse(const Matrix<T>& a, const DenseTensor& x, int64_t b) {
  const auto lu = lu_factor(a);
  PHI_CHECK(lu.info == 0, errors::InvalidArgument("x is {} and its matrix {} (from 0) is singular, "
                                                  "so that it has no negative power.",
                                                  x.meta().to_string(), b));
  return lu_solve(lu, Matrix<T>::identity(a.rows()));
}

template <typename T>
Matrix<T> power(Matrix<T> square, uint32_t n) {
  if (n == 0) return Matrix<T>::identity(square.rows());
  for (; n % 2 == 0; n /= 2) square = square * square;
  Matrix<T> product = square;
  while (n /= 2) {
    square = square * square;
    if (n % 2 != 0) product = product * square;
  }
  return product;
}

/// Returns the gradient of a^n for n > 0: propagates it through each multiplication and squaring,
/// from the last to the first.
template <typename T>
Matrix<T> power_gradient(const Matrix<T>& a, uint32_t n, Matrix<T> grad) {
  std::vector<Matrix<T>> squares{a};
  for (uint32_t left = n >> 1; left != 0; left >>= 1) {
    squares.push_back(squares.back() * squares.back());
  }
  // products[i] is the product before it is multiplied by square i.
  std::vector<Matrix<T>> products(squares.size());
  Matrix<T> product = Matrix<T>::identity(a.rows());
  for (size_t i = 0; i < squares.size(); ++i) {
    products[i] = product;
    if (n >> i & 1) product = product * squares[i];
  }
  Matrix<T> of_square(a.rows(), a.columns());
  for (size_t i = squares.size(); i-- > 0;) {
    if (i + 1 < squares.size()) {
      const Matrix<T> turned = adjoint(squares[i]);
      of_square = of_square * turned + turned * of_square;
    }
    if (n >> i & 1) {
      of_square += adjoint(products[i]) * grad;
      grad = grad * adjoint(squares[i]);
    }
  }
  return of_square;
}

}  // namespace

/// Power 0 is the identity. Negative powers are powers of the inverse.
template <typename T, typename Context>
void MatrixPowerKernel(const Context&, const DenseTensor& x, int n, DenseTensor* out) {
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    Matrix<T> a = linalg::matrix_of<T>(x, b);
    if (n < 0) a = inverse(a, x, b);
    linalg::put_matrix(power(std::move(a), magnitude(n)), b, out);
  }
}

template <typename T, typename Context>
void MatrixPowerGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out_grad, int n,
                           DenseTensor* x_grad) {
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    Matrix<T> a = linalg::matrix_of<T>(x, b);
    Matrix<T> grad(a.rows(), a.columns());
    if (n != 0) {
      if (n < 0) a = inverse(a, x, b);
      grad = power_gradient(a, magnitude(n), linalg::matrix_of<T>(out_grad, b));
      if (n < 0) grad = negated(adjoint(a) * grad * adjoint(a));
    }
    linalg::put_matrix(grad, b, x_grad);
  }
}

PHI_REGISTER_KERNEL(matrix_power, CPU, MatrixPowerKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(matrix_power_grad, CPU, MatrixPowerGradKernel, linalg::MatrixTypes);

}  // namespace phi
