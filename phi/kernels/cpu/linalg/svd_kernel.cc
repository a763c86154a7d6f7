// Singular values and vectors, and their gradients, on the CPU.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/kernels/cpu/linalg/lapack.h"

namespace phi {
namespace {

using linalg::adjoint;
using linalg::Matrix;

/// Divides (m - m^H) by the differences of squared singular values; sets the diagonal to 0.
template <typename T>
Matrix<T> turning(const Matrix<T>& m, const std::vector<real_t<T>>& s) {
  return (m - adjoint(m)).for_each([&](int64_t i, int64_t j, T& to) {
    const auto a = s[static_cast<size_t>(i)], b = s[static_cast<size_t>(j)];
    to = i == j ? T(0) : linalg::quotient_or_zero(to, (b - a) * (b + a));
  });
}

/// Returns the part of x outside the column space of q.
template <typename T>
Matrix<T> outside(const Matrix<T>& q, const Matrix<T>& x) {
  return x - q * (adjoint(q) * x);
}

}  // namespace

/// s is in falling order. Signs are LAPACK's.
template <typename T, typename Context>
void SvdKernel(const Context&, const DenseTensor& x, bool full_matrices, DenseTensor* u,
               DenseTensor* s, DenseTensor* vh) {
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    const auto parts = linalg::svd(linalg::matrix_of<T>(x, b), full_matrices ? 'A' : 'S');
    linalg::put_matrix(parts.u, b, u);
    linalg::put_vector(parts.s, b, s);
    linalg::put_matrix(parts.vh, b, vh);
  }
}

template <typename T, typename Context>
void SvdvalsKernel(const Context&, const DenseTensor& x, DenseTensor* s) {
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    linalg::put_vector(linalg::svd(linalg::matrix_of<T>(x, b), 'N').s, b, s);
  }
}

/// x_grad = U [diag(gs) + F(U^H gU) S + S F(V^H gV)] V^H + outside(U, gU) S^-1 V^H + U S^-1
/// outside(V, gV)^H, where F is `turning` (Townsend 2016). Complex matrices have a last term for
/// phases (Wan and Zhang 2019).
template <typename T, typename Context>
void SvdGradKernel(const Context&, const DenseTensor& u, const DenseTensor& s,
                   const DenseTensor& vh, const DenseTensor& u_grad, const DenseTensor& s_grad,
                   const DenseTensor& vh_grad, DenseTensor* x_grad) {
  using R = real_t<T>;
  const int64_t k = std::min(linalg::rows_of(*x_grad), linalg::columns_of(*x_grad));
  for (int64_t b = 0; b < linalg::matrices_in(x_grad->dims()); ++b) {
    const auto u_b = linalg::matrix_of<T>(u, b), vh_b = linalg::matrix_of<T>(vh, b);
    const auto gu = linalg::matrix_of<T>(u_grad, b);
    const Matrix<T> v = adjoint(vh_b), gv = adjoint(linalg::matrix_of<T>(vh_grad, b));
    const auto s_b = linalg::vector_of<R>(s, b, k);
    const auto gs = linalg::vector_of<R>(s_grad, b, k);
    const Matrix<T> of_u = adjoint(u_b) * gu;
    Matrix<T> inner =
        scale_columns(turning(of_u, s_b), s_b) + scale_rows(turning(adjoint(v) * gv, s_b), s_b);
    const auto by_s = [&](int64_t, int64_t j, T& to) {
      to = linalg::quotient_or_zero(to, s_b[static_cast<size_t>(j)]);
    };
    for (int64_t i = 0; i < k; ++i) {
      inner(i, i) = gs[static_cast<size_t>(i)];
      if constexpr (kIsComplex<T>) {
        inner(i, i) +=
            linalg::quotient_or_zero(T(0, of_u(i, i).imag()), s_b[static_cast<size_t>(i)]);
      }
    }
    Matrix<T> grad = u_b * inner * vh_b;
    if (u_b.rows() > k) grad += outside(u_b, gu).for_each(by_s) * vh_b;
    if (v.rows() > k) grad += u_b * adjoint(outside(v, gv).for_each(by_s));
    linalg::put_matrix(grad, b, x_grad);
  }
}

/// x_grad = U diag(gs) V^H.
template <typename T, typename Context>
void SvdvalsGradKernel(const Context&, const DenseTensor& x, const DenseTensor& s_grad,
                       DenseTensor* x_grad) {
  const int64_t k = std::min(linalg::rows_of(x), linalg::columns_of(x));
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    const auto parts = linalg::svd(linalg::matrix_of<T>(x, b), 'S');
    const auto g = linalg::vector_of<real_t<T>>(s_grad, b, k);
    linalg::put_matrix(scale_columns(parts.u, g) * parts.vh, b, x_grad);
  }
}

PHI_REGISTER_KERNEL(svd, CPU, SvdKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(svd_grad, CPU, SvdGradKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(svdvals, CPU, SvdvalsKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(svdvals_grad, CPU, SvdvalsGradKernel, linalg::MatrixTypes);

}  // namespace phi
