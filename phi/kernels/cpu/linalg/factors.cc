// Matrix multiplication and factorisations by BLAS and LAPACK.
#include "phi/kernels/cpu/linalg/lapack.h"
#include "phi/kernels/cpu/linalg/lapack_calls.h"
#include "phi/kernels/cpu/matmul/gemm.h"

namespace phi::linalg {

// A column-major product is the row-major product of the transposed matrices.
template <typename T>
Matrix<T> operator*(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> c(a.rows(), b.columns());
  gemm<T, T>({.m = b.columns(), .n = a.rows(), .k = a.columns()}, T(1), b.data(), b.stride(),
             a.data(), a.stride(), T(0), c.data(), c.stride());
  return c;
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

#define PHI_INSTANTIATE(T)                                          \
  template Matrix<T> operator*(const Matrix<T>&, const Matrix<T>&); \
  template bool cholesky_factor(Matrix<T>*, bool);                  \
  template Qr<T> qr(Matrix<T>, int64_t)
PHI_INSTANTIATE(float);
PHI_INSTANTIATE(double);
PHI_INSTANTIATE(complex64);
PHI_INSTANTIATE(complex128);
#undef PHI_INSTANTIATE

}  // namespace phi::linalg
