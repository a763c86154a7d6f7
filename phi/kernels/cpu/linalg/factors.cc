// Products, triangular solves and factorisations of LAPACK and BLAS.
#include "phi/kernels/cpu/linalg/lapack.h"
#include "phi/kernels/cpu/linalg/lapack_calls.h"

namespace phi::linalg {
namespace {

CBLAS_TRANSPOSE blas_op(Op op) {
  return op == Op::kNone ? CblasNoTrans : op == Op::kTranspose ? CblasTrans : CblasConjTrans;
}

template <typename T>
Matrix<T> solve(CBLAS_SIDE side, const Matrix<T>& a, Triangle triangle, Op op, Matrix<T> b) {
  if (b.rows() == 0 || b.columns() == 0) return b;
  const T one = 1;
  Lapack<T>::trsm(CblasColMajor, side, triangle.upper ? CblasUpper : CblasLower, blas_op(op),
                  triangle.unit ? CblasUnit : CblasNonUnit, extent(b.rows()), extent(b.columns()),
                  blas_number(one), a.data(), a.stride(), b.data(), b.stride());
  return b;
}

}  // namespace

template <typename T>
Matrix<T> operator*(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> c(a.rows(), b.columns());
  if (a.rows() == 0 || b.columns() == 0 || a.columns() == 0) return c;
  const T one = 1, zero = 0;
  Lapack<T>::gemm(CblasColMajor, CblasNoTrans, CblasNoTrans, extent(a.rows()), extent(b.columns()),
                  extent(a.columns()), blas_number(one), a.data(), a.stride(), b.data(), b.stride(),
                  blas_number(zero), c.data(), c.stride());
  return c;
}

template <typename T>
Lu<T> lu_factor(Matrix<T> a) {
  Lu<T> lu{std::move(a), {}, 0};
  const int m = extent(lu.factors.rows()), n = extent(lu.factors.columns());
  const int stride = lu.factors.stride();
  lu.pivots.resize(static_cast<size_t>(std::min(m, n)));
  if (!lu.pivots.empty()) {
    Lapack<T>::getrf(&m, &n, lu.factors.data(), &stride, lu.pivots.data(), &lu.info);
  }
  return lu;
}

template <typename T>
Matrix<T> lu_solve(const Lu<T>& lu, Matrix<T> b) {
  const int n = extent(b.rows()), nrhs = extent(b.columns());
  const int stride = b.stride();
  int info = 0;
  if (n > 0 && nrhs > 0) {
    Lapack<T>::getrs("N", &n, &nrhs, lu.factors.data(), &stride, lu.pivots.data(), b.data(),
                     &stride, &info, 1);
  }
  return b;
}

template <typename T>
Matrix<T> unswap_rows(Matrix<T> x, const std::vector<int>& pivots) {
  for (auto i = static_cast<int64_t>(pivots.size()) - 1; i >= 0; --i) {
    const int64_t other = pivots[static_cast<size_t>(i)] - 1;
    if (other == i) continue;
    for (int64_t j = 0; j < x.columns(); ++j) std::swap(x(i, j), x(other, j));
  }
  return x;
}

template <typename T>
bool cholesky_factor(Matrix<T>* a, bool lower) {
  const int n = extent(a->rows());
  int info = 0;
  const int stride = a->stride();
  if (n > 0) Lapack<T>::potrf(lower ? "L" : "U", &n, a->data(), &stride, &info, 1);
  *a = lower ? tril(std::move(*a)) : triu(std::move(*a));
  return info == 0;
}

template <typename T>
Matrix<T> solve_left(const Matrix<T>& a, Triangle triangle, Op op, Matrix<T> b) {
  return solve(CblasLeft, a, triangle, op, std::move(b));
}
template <typename T>
Matrix<T> solve_right(Matrix<T> b, const Matrix<T>& a, Triangle triangle, Op op) {
  return solve(CblasRight, a, triangle, op, std::move(b));
}

template <typename T>
Qr<T> qr(Matrix<T> a, int64_t columns) {
  const int m = extent(a.rows()), n = extent(a.columns());
  const int lda = a.stride();
  const int k = std::min(m, n);
  std::vector<T> tau(static_cast<size_t>(std::max(k, 1)));
  int info = 0;
  if (k > 0) {
    with_work<T>([&](T* work, int length) {
      Lapack<T>::geqrf(&m, &n, a.data(), &lda, tau.data(), work, &length, &info);
    });
  }
  const int64_t r_rows = columns == 0 ? k : columns;
  Qr<T> result{Matrix<T>(m, columns), Matrix<T>(r_rows, n)};
  result.r.set_part(0, 0, triu(a.part(0, 0, std::min<int64_t>(r_rows, m), n)));
  if (columns == 0 || m == 0) return result;
  result.q.set_part(0, 0, a.part(0, 0, m, std::min<int64_t>(columns, n)));
  const int q_columns = extent(columns);
  with_work<T>([&](T* work, int length) {
    Lapack<T>::make_q(&m, &q_columns, &k, result.q.data(), &lda, tau.data(), work, &length, &info);
  });
  return result;
}

#define PHI_INSTANTIATE(T)                                                   \
  template Matrix<T> operator*(const Matrix<T>&, const Matrix<T>&);          \
  template Lu<T> lu_factor(Matrix<T>);                                       \
  template Matrix<T> lu_solve(const Lu<T>&, Matrix<T>);                      \
  template Matrix<T> unswap_rows(Matrix<T>, const std::vector<int>&);        \
  template bool cholesky_factor(Matrix<T>*, bool);                           \
  template Matrix<T> solve_left(const Matrix<T>&, Triangle, Op, Matrix<T>);  \
  template Matrix<T> solve_right(Matrix<T>, const Matrix<T>&, Triangle, Op); \
  template Qr<T> qr(Matrix<T>, int64_t)
PHI_INSTANTIATE(float);
PHI_INSTANTIATE(double);
PHI_INSTANTIATE(complex64);
PHI_INSTANTIATE(complex128);
#undef PHI_INSTANTIATE

}  // namespace phi::linalg
