// Eigenvalues and eigenvectors, and their gradients, on the CPU.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/kernels/cpu/linalg/lapack.h"

namespace phi {
namespace {

using linalg::adjoint;
using linalg::Matrix;

/// Divides m(i, j) by the conjugated distance from value i to value j; sets the diagonal to 0.
template <typename T, typename Value>
Matrix<T> by_distances(Matrix<T> m, const std::vector<Value>& values) {
  return m.for_each([&](int64_t i, int64_t j, T& to) {
    const auto distance = values[static_cast<size_t>(j)] - values[static_cast<size_t>(i)];
    to = i == j ? T(0) : linalg::quotient_or_zero(to, conjugate(distance));
  });
}
template <typename T, typename Value>
Matrix<T> with_diagonal(Matrix<T> m, const std::vector<Value>& values) {
  for (int64_t i = 0; i < m.rows(); ++i) m(i, i) = values[static_cast<size_t>(i)];
  return m;
}

/// Returns the real parts if x is real, else m.
template <typename T, typename C>
Matrix<T> in_type_of_x(const Matrix<C>& m) {
  if constexpr (std::is_same_v<T, C>) {
    return m;
  } else {
    Matrix<T> real(m.rows(), m.columns());
    return real.for_each([&](int64_t i, int64_t j, T& to) { to = m(i, j).real(); });
  }
}

}  // namespace

/// Eigenvalues have LAPACK's order.
template <typename T, typename Context>
void EigKernel(const Context&, const DenseTensor& x, DenseTensor* out_w, DenseTensor* out_v) {
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    const auto found = linalg::eigen(linalg::matrix_of<T>(x, b), true);
    linalg::put_vector(found.values, b, out_w);
    linalg::put_matrix(found.vectors, b, out_v);
  }
}

/// Computes the eigenvalues of x^T, which are the same, because their order in LAPACK is Paddle's.
template <typename T, typename Context>
void EigvalsKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    const auto a = linalg::matrix_of<T>(x, b);
    linalg::put_vector(linalg::eigen(transposed(a), false).values, b, out);
  }
}

/// x_grad = V^-H (diag(gw) + (V^H gv - V^H V Re(diag(V^H gv))) / conj(E)) V^H for vectors of norm
/// 1, where E has the distances of eigenvalues (Giles 2008, section 3.1; Wan and Zhang 2019). T is
/// x's element type.
template <typename T, typename Context>
void EigGradKernel(const Context&, const DenseTensor& out_w, const DenseTensor& out_v,
                   const DenseTensor& out_w_grad, const DenseTensor& out_v_grad,
                   DenseTensor* x_grad) {
  using C = Complex<real_t<T>>;
  const int64_t n = linalg::rows_of(out_v);
  for (int64_t b = 0; b < linalg::matrices_in(out_v.dims()); ++b) {
    const auto v = linalg::matrix_of<C>(out_v, b);
    const Matrix<C> vh = adjoint(v);
    Matrix<C> inner = vh * linalg::matrix_of<C>(out_v_grad, b);
    std::vector<real_t<T>> lengthening(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) lengthening[static_cast<size_t>(i)] = inner(i, i).real();
    inner -= scale_columns(vh * v, lengthening);
    inner = with_diagonal(by_distances(std::move(inner), linalg::vector_of<C>(out_w, b, n)),
                          linalg::vector_of<C>(out_w_grad, b, n));
    linalg::put_matrix(in_type_of_x<T>(lu_solve(lu_factor(vh), inner * vh)), b, x_grad);
  }
}

/// Eigenvalues are in rising order. One triangle of x is read.
template <typename T, typename Context>
void EighKernel(const Context&, const DenseTensor& x, const std::string& uplo, DenseTensor* out_w,
                DenseTensor* out_v) {
  for (int64_t b = 0; b < linalg::matrices_in(x.dims()); ++b) {
    const auto found =
        linalg::hermitian_eigen(linalg::matrix_of<T>(x, b), uplo == "L", out_v != nullptr);
    linalg::put_vector(found.values, b, out_w);
    if (out_v) linalg::put_matrix(found.vectors, b, out_v);
  }
}

template <typename T, typename Context>
void EigvalshKernel(const Context& ctx, const DenseTensor& x, const std::string& uplo,
                    DenseTensor* eigenvalues, DenseTensor* eigenvectors) {
  EighKernel<T>(ctx, x, uplo, eigenvalues, eigenvectors);
}

/// x_grad is the symmetric part of V (diag(gw) + (V^H gv) / E) V^H. T is the element type of the
/// vectors.
template <typename T, typename Context>
void EighGradKernel(const Context&, const DenseTensor& out_w, const DenseTensor& out_v,
                    const DenseTensor& out_w_grad, const DenseTensor& out_v_grad,
                    DenseTensor* x_grad) {
  using R = real_t<T>;
  const int64_t n = linalg::rows_of(out_v);
  for (int64_t b = 0; b < linalg::matrices_in(out_v.dims()); ++b) {
    const auto v = linalg::matrix_of<T>(out_v, b);
    const Matrix<T> inner =
        with_diagonal(by_distances(adjoint(v) * linalg::matrix_of<T>(out_v_grad, b),
                                   linalg::vector_of<R>(out_w, b, n)),
                      linalg::vector_of<R>(out_w_grad, b, n));
    linalg::put_matrix(symmetric(v * inner * adjoint(v)), b, x_grad);
  }
}

template <typename T, typename Context>
void EigvalshGradKernel(const Context&, const DenseTensor* eigenvectors,
                        const DenseTensor& eigenvalues_grad, DenseTensor* x_grad) {
  const int64_t n = linalg::rows_of(*x_grad);
  for (int64_t b = 0; b < linalg::matrices_in(x_grad->dims()); ++b) {
    const auto v = linalg::matrix_of<T>(*eigenvectors, b);
    const auto g = linalg::vector_of<real_t<T>>(eigenvalues_grad, b, n);
    linalg::put_matrix(symmetric(scale_columns(v, g) * adjoint(v)), b, x_grad);
  }
}

PHI_REGISTER_KERNEL(eig, CPU, EigKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(eig_grad, CPU, EigGradKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(eigvals, CPU, EigvalsKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(eigh, CPU, EighKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(eigh_grad, CPU, EighGradKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(eigvalsh, CPU, EigvalshKernel, linalg::MatrixTypes);
PHI_REGISTER_KERNEL(eigvalsh_grad, CPU, EigvalshGradKernel, linalg::MatrixTypes);

}  // namespace phi
