// LU factorisation, and P, L and U from its result, on the CPU.
#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/kernels/cpu/linalg/lapack.h"

namespace phi {
namespace {

using linalg::adjoint;
using linalg::Matrix;
using linalg::Op;
using linalg::Triangle;

constexpr Triangle kUnitLower{.upper = false, .unit = true};
constexpr Triangle kUpper{.upper = true, .unit = false};

/// The k x k part of both factors, and the rest of the longer side.
template <typename T>
struct LuParts {
  explicit LuParts(const Matrix<T>& x) : k(std::min(x.rows(), x.columns())) {
    square = x.part(0, 0, k, k);
    below = x.part(k, 0, x.rows() - k, k);
    right = x.part(0, k, k, x.columns() - k);
  }
  int64_t k;
  Matrix<T> square;
  Matrix<T> below;  // rest of L
  Matrix<T> right;  // rest of U
};

/// Returns the gradient of P^T x from that of its factors.
template <typename T>
Matrix<T> factors_gradient(const Matrix<T>& factors, const Matrix<T>& grad) {
  const LuParts<T> f(factors), g(grad);
  Matrix<T> l = tril(f.square, -1) + Matrix<T>::identity(f.k);
  const Matrix<T> u = triu(f.square);
  const Matrix<T> of_l = adjoint(l) * tril(g.square, -1) - g.right * adjoint(f.right);
  const Matrix<T> of_u = triu(g.square) * adjoint(u) - adjoint(f.below) * g.below;
  const auto without_l = [&l](Matrix<T> x) {
    return solve_left(l, kUnitLower, Op::kAdjoint, std::move(x));
  };
  const auto without_u = [&u](Matrix<T> x) {
    return solve_right(std::move(x), u, kUpper, Op::kAdjoint);
  };
  Matrix<T> result(factors.rows(), factors.columns());
  result.set_part(0, 0, without_u(without_l(tril(of_l, -1) + triu(of_u))));
  result.set_part(f.k, 0, without_u(g.below));
  result.set_part(0, f.k, without_l(g.right));
  return result;
}

/// Errors   InvalidArgument for a pivot that is not a row at or below its own.
void check_pivots(std::span<const int> pivots, int64_t rows, int64_t b) {
  for (size_t i = 0; i < pivots.size(); ++i) {
    PHI_CHECK(pivots[i] > static_cast<int>(i) && pivots[i] <= rows,
              errors::InvalidArgument("y has pivot {} for row {} of matrix {} (from 0): rows are "
                                      "swapped with rows {} to {}, counted from 1.",
                                      pivots[i], i + 1, b, i + 1, rows));
  }
}

}  // namespace

template <typename T, typename Context>
void LuKernel(const Context&, const DenseTensor& x, DenseTensor* out, DenseTensor* pivots,
              DenseTensor* infos) {
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    const auto lu = lu_factor(linalg::matrix_of<T>(x, b));
    linalg::put_matrix(lu.factors, b, out);
    linalg::put_vector(lu.pivots, b, pivots);
    infos->mutable_data<int>()[b] = lu.info;
  }
}

/// x_grad = P L^-H (tril(L^H gL, -1) + triu(gU U^H)) U^-H (Walter and Lehmann 2010). For matrices
/// that are not square, the rest of the longer side follows from dL and dU in blocks.
template <typename T, typename Context>
void LuGradKernel(const Context&, const DenseTensor& out, const DenseTensor& pivots,
                  const DenseTensor& out_grad, DenseTensor* x_grad) {
  const int64_t k = std::min(linalg::rows_of(out), linalg::columns_of(out));
  for (int64_t b = 0; b < linalg::matrices_in(out.dims()); ++b) {
    const Matrix<T> grad =
        factors_gradient(linalg::matrix_of<T>(out, b), linalg::matrix_of<T>(out_grad, b));
    linalg::put_matrix(unswap_rows(grad, linalg::vector_of<int>(pivots, b, k)), b, x_grad);
  }
}

template <typename T, typename Context>
void LuUnpackKernel(const Context&, const DenseTensor& x, const DenseTensor& y, DenseTensor* pmat,
                    DenseTensor* l, DenseTensor* u) {
  const int64_t m = linalg::rows_of(x), n = linalg::columns_of(x), k = std::min(m, n);
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    const auto factors = linalg::matrix_of<T>(x, b);
    if (l) {
      Matrix<T> lower = tril(factors.part(0, 0, m, k), -1);
      for (int64_t i = 0; i < k; ++i) lower(i, i) = T(1);
      linalg::put_matrix(lower, b, l);
    }
    if (u) linalg::put_matrix(triu(factors.part(0, 0, k, n)), b, u);
    if (!pmat) continue;
    const auto pivots = linalg::vector_of<int>(y, b, k);
    check_pivots(pivots, m, b);
    linalg::put_matrix(unswap_rows(Matrix<T>::identity(m), pivots), b, pmat);
  }
}

template <typename T, typename Context>
void LuUnpackGradKernel(const Context&, const DenseTensor* l_grad, const DenseTensor* u_grad,
                        DenseTensor* x_grad) {
  for (int64_t b = 0; b < linalg::matrices_in(x_grad->dims()); ++b) {
    Matrix<T> grad(linalg::rows_of(*x_grad), linalg::columns_of(*x_grad));
    if (u_grad) grad.set_part(0, 0, triu(linalg::matrix_of<T>(*u_grad, b)));
    if (l_grad) {
      const Matrix<T> lower = linalg::matrix_of<T>(*l_grad, b);
      for (int64_t j = 0; j < lower.columns(); ++j) {
        for (int64_t i = j + 1; i < lower.rows(); ++i) grad(i, j) = lower(i, j);
      }
    }
    linalg::put_matrix(grad, b, x_grad);
  }
}

PHI_REGISTER_KERNEL(lu, CPU, LuKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(lu_grad, CPU, LuGradKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(lu_unpack, CPU, LuUnpackKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(lu_unpack_grad, CPU, LuUnpackGradKernel, linalg::MatrixTypes);

}  // namespace phi
