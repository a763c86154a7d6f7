// Eigenvalues and eigenvectors by LAPACK's geev, syevd and heevd.
#include <limits>

#include "phi/kernels/cpu/linalg/lapack.h"
#include "phi/kernels/cpu/linalg/lapack_calls.h"

namespace phi::linalg {
namespace {

/// Joins the columns of real geev's result: for two conjugate eigenvalues, a pair of columns has
/// the real and imaginary parts of the first one's eigenvector.
template <typename R>
void join_pairs(const Matrix<R>& pairs, Eigen<R>* eigen) {
  const int64_t n = pairs.rows();
  eigen->vectors = Matrix<Complex<R>>(n, n);
  for (int64_t j = 0; j < n; ++j) {
    const bool first = eigen->values[static_cast<size_t>(j)].imag() > 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      eigen->vectors(i, j) = {pairs(i, j), first ? pairs(i, j + 1) : R(0)};
      if (first) eigen->vectors(i, j + 1) = {pairs(i, j), -pairs(i, j + 1)};
    }
    if (first) ++j;
  }
}

template <typename T>
void geev(Matrix<T>* a, bool vectors, Eigen<T>* eigen) {
  using R = real_t<T>;
  const int n = extent(a->rows());
  const char* right = vectors ? "V" : "N";
  Matrix<T> columns(n, vectors ? n : 0);
  int info = 0;
  if constexpr (kIsComplex<T>) {
    std::vector<R> rwork(static_cast<size_t>(2 * n));
    with_work<T>([&](T* work, int length) {
      Lapack<T>::geev("N", right, &n, a->data(), &n, eigen->values.data(), nullptr, &n,
                      columns.data(), &n, work, &length, rwork.data(), &info, 1, 1);
    });
    eigen->vectors = std::move(columns);
  } else {
    std::vector<T> re(static_cast<size_t>(n)), im(static_cast<size_t>(n));
    with_work<T>([&](T* work, int length) {
      Lapack<T>::geev("N", right, &n, a->data(), &n, re.data(), im.data(), nullptr, &n,
                      columns.data(), &n, work, &length, &info, 1, 1);
    });
    for (size_t i = 0; i < re.size(); ++i) eigen->values[i] = {re[i], im[i]};
    if (vectors) join_pairs(columns, eigen);
  }
  check_ended("geev", info);
}

}  // namespace

template <typename T>
Eigen<T> eigen(Matrix<T> a, bool vectors) {
  using C = typename Eigen<T>::C;
  const int64_t n = a.rows();
  Eigen<T> result{std::vector<C>(static_cast<size_t>(n)), Matrix<C>(n, vectors ? n : 0)};
  if (n == 0) return result;
  if (a.is_finite()) {
    geev(&a, vectors, &result);
  } else {  // LAPACK might not terminate
    const auto nan = std::numeric_limits<real_t<T>>::quiet_NaN();
    std::fill(result.values.begin(), result.values.end(), C(nan, nan));
    result.vectors.fill({nan, nan});
  }
  return result;
}

template <typename T>
HermitianEigen<T> hermitian_eigen(Matrix<T> a, bool lower, bool vectors) {
  using R = real_t<T>;
  const int n = extent(a.rows());
  HermitianEigen<T> result;
  result.values.resize(static_cast<size_t>(n));
  const char* job = vectors ? "V" : "N";
  const char* uplo = lower ? "L" : "U";
  int info = 0;
  if (n > 0 && !(lower ? tril(a) : triu(a)).is_finite()) {
    std::fill(result.values.begin(), result.values.end(), std::numeric_limits<R>::quiet_NaN());
    a.fill(std::numeric_limits<R>::quiet_NaN());
  } else if (n > 0) {
    int iwork_needed = 0;
    std::vector<int> iwork(1);
    std::vector<R> rwork(1);
    with_work<T>([&](T* work, int length) {
      const int asked = length == -1 ? -1 : extent(static_cast<int64_t>(iwork.size()));
      if constexpr (kIsComplex<T>) {
        const int rlength = length == -1 ? -1 : extent(static_cast<int64_t>(rwork.size()));
        Lapack<T>::hermitian_evd(job, uplo, &n, a.data(), &n, result.values.data(), work, &length,
                                 rwork.data(), &rlength, iwork.data(), &asked, &info, 1, 1);
        if (length == -1) rwork.resize(static_cast<size_t>(rwork[0]));
      } else {
        Lapack<T>::hermitian_evd(job, uplo, &n, a.data(), &n, result.values.data(), work, &length,
                                 iwork.data(), &asked, &info, 1, 1);
      }
      iwork_needed = iwork[0];
      if (length == -1) iwork.resize(static_cast<size_t>(iwork_needed));
    });
    check_ended("syevd", info);
  }
  if (vectors) result.vectors = std::move(a);
  return result;
}

#define PHI_INSTANTIATE(T)                  \
  template Eigen<T> eigen(Matrix<T>, bool); \
  template HermitianEigen<T> hermitian_eigen(Matrix<T>, bool, bool)
PHI_INSTANTIATE(float);
PHI_INSTANTIATE(double);
PHI_INSTANTIATE(complex64);
PHI_INSTANTIATE(complex128);
#undef PHI_INSTANTIATE

}  // namespace phi::linalg
