// Cholesky factorisation, and systems of equations with given factors, on the CPU.
#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/kernels/cpu/linalg/systems.h"

namespace phi {
namespace {

using linalg::adjoint;
using linalg::Matrix;
using linalg::Op;
using linalg::Triangle;

/// Returns (L L^H)^-1 b, or (U^H U)^-1 b if `upper`.
template <typename T>
Matrix<T> solve_by(const Matrix<T>& factor, bool upper, Matrix<T> b) {
  const Triangle triangle{.upper = upper};
  const auto first = upper ? Op::kAdjoint : Op::kNone;
  const auto second = upper ? Op::kNone : Op::kAdjoint;
  return solve_left(factor, triangle, second, solve_left(factor, triangle, first, std::move(b)));
}

}  // namespace

/// Reads one triangle of x.
///
/// Errors   InvalidArgument for a matrix that is not positive definite.
template <typename T, typename Context>
void CholeskyKernel(const Context&, const DenseTensor& x, bool upper, DenseTensor* out) {
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    auto a = linalg::matrix_of<T>(x, b);
    PHI_CHECK(
        linalg::cholesky_factor(&a, !upper),
        errors::InvalidArgument("x is {} and its matrix {} (from 0) is not positive definite, "
                                "so that it has no Cholesky factor.",
                                x.meta().to_string(), b));
    linalg::put_matrix(a, b, out);
  }
}

/// The gradient is the symmetric part of L^-H phi(L^H G) L^-1, where phi keeps the lower triangle
/// and halves its diagonal (Murray 2016, "Differentiation of the Cholesky decomposition", eq. 10).
template <typename T, typename Context>
void CholeskyGradKernel(const Context&, const DenseTensor& out, const DenseTensor& out_grad,
                        bool upper, DenseTensor* x_grad) {
  for (int64_t b = 0; b < linalg::matrices_in(out.dims()); ++b) {
    auto l = linalg::matrix_of<T>(out, b);
    auto g = linalg::matrix_of<T>(out_grad, b);
    if (upper) {
      l = adjoint(l);
      g = adjoint(g);
    }
    Matrix<T> phi = tril(adjoint(l) * tril(std::move(g)));
    for (int64_t i = 0; i < phi.rows(); ++i) phi(i, i) *= real_t<T>(0.5);
    const Triangle lower;
    phi = solve_right(solve_left(l, lower, Op::kAdjoint, std::move(phi)), l, lower, Op::kNone);
    linalg::put_matrix(symmetric(phi), b, x_grad);
  }
}

template <typename T, typename Context>
void CholeskySolveKernel(const Context&, const DenseTensor& x, const DenseTensor& y, bool upper,
                         DenseTensor* out) {
  linalg::solve_all<T>(linalg::Systems(y.dims(), x.dims()), y, x, out,
                       [upper](int64_t, Matrix<T> factor) {
                         return [factor = std::move(factor), upper](Matrix<T> b) {
                           return solve_by(factor, upper, std::move(b));
                         };
                       });
}

template <typename T, typename Context>
void CholeskySolveGradKernel(const Context&, const DenseTensor& x, const DenseTensor& y,
                             const DenseTensor& out, const DenseTensor& out_grad, bool upper,
                             DenseTensor* x_grad, DenseTensor* y_grad) {
  linalg::solve_grad_all<T>(
      linalg::Systems(y.dims(), x.dims()), y, out, out_grad, y_grad, x_grad,
      [upper](const Matrix<T>& factor, const Matrix<T>& solution, Matrix<T> g) {
        Matrix<T> b_grad = solve_by(factor, upper, std::move(g));
        const Matrix<T> half = b_grad * adjoint(solution);
        const Matrix<T> product_grad = negated(half + adjoint(half));
        return linalg::MatrixPair<T>(
            upper ? triu(factor * product_grad) : tril(product_grad * factor), std::move(b_grad));
      });
}

PHI_REGISTER_KERNEL(cholesky, CPU, CholeskyKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(cholesky_grad, CPU, CholeskyGradKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(cholesky_solve, CPU, CholeskySolveKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(cholesky_solve_grad, CPU, CholeskySolveGradKernel, linalg::MatrixTypes);

}  // namespace phi
