// QR factorisation and its gradient, on the CPU.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/kernels/cpu/linalg/lapack.h"

namespace phi {
namespace {

using linalg::adjoint;
using linalg::Matrix;
using linalg::Op;

/// Mirrors the lower triangle of x to the upper one and makes the diagonal real.
template <typename T>
Matrix<T> mirrored(Matrix<T> x) {
  for (int64_t j = 0; j < x.columns(); ++j) {
    x(j, j) = T(real_part(x(j, j)));
    for (int64_t i = j + 1; i < x.rows(); ++i) x(j, i) = conjugate(x(i, j));
  }
  return x;
}

/// Returns (gQ + Q mirrored(R gR^H - gQ^H Q)) R^-H, the gradient for a matrix with at least as many
/// rows as columns.
template <typename T>
Matrix<T> tall_gradient(const Matrix<T>& q, const Matrix<T>& r, const Matrix<T>& q_grad,
                        const Matrix<T>& r_grad) {
  const Matrix<T> m = mirrored(r * adjoint(r_grad) - adjoint(q_grad) * q);
  return solve_right(q_grad + q * m, r, {.upper = true}, Op::kAdjoint);
}

}  // namespace

/// q is empty in mode "r". Signs are LAPACK's.
template <typename T, typename Context>
void QrKernel(const Context&, const DenseTensor& x, const std::string& mode, DenseTensor* q,
              DenseTensor* r) {
  const int64_t columns = mode == "r" ? 0 : linalg::columns_of(*q);
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    const auto factors = linalg::qr(linalg::matrix_of<T>(x, b), columns);
    if (columns > 0) linalg::put_matrix(factors.q, b, q);
    linalg::put_matrix(factors.r, b, r);
  }
}

/// Walter and Lehmann 2010, section 4. A wide matrix is [X1 X2] = Q [U V], where Q and U are the
/// factors of X1, and X2 = Q V (Roberts and Roberts 2020).
template <typename T, typename Context>
void QrGradKernel(const Context&, const DenseTensor& x, const DenseTensor& q, const DenseTensor& r,
                  const DenseTensor& q_grad, const DenseTensor& r_grad, DenseTensor* x_grad) {
  const int64_t m = linalg::rows_of(x), n = linalg::columns_of(x), k = std::min(m, n);
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    const auto q_b = linalg::matrix_of<T>(q, b), r_b = linalg::matrix_of<T>(r, b);
    auto of_q = linalg::matrix_of<T>(q_grad, b);
    const auto of_r = linalg::matrix_of<T>(r_grad, b);
    const Matrix<T> of_v = of_r.part(0, k, k, n - k);
    of_q += linalg::matrix_of<T>(x, b).part(0, k, m, n - k) * adjoint(of_v);
    Matrix<T> grad(m, n);
    grad.set_part(0, 0,
                  tall_gradient(q_b, r_b.part(0, 0, k, k), of_q, triu(of_r.part(0, 0, k, k))));
    grad.set_part(0, k, q_b * of_v);
    linalg::put_matrix(grad, b, x_grad);
  }
}

PHI_REGISTER_KERNEL(qr, CPU, QrKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(qr_grad, CPU, QrGradKernel, linalg::MatrixTypes);

}  // namespace phi
