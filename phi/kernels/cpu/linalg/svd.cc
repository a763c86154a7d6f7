// Singular values and least squares by LAPACK's gesdd and gels, gelsy, gelsd, gelss.
#include <limits>

#include "phi/kernels/cpu/linalg/lapack.h"
#include "phi/kernels/cpu/linalg/lapack_calls.h"

namespace phi::linalg {

template <typename T>
Svd<T> svd(Matrix<T> a, char job) {
  using R = real_t<T>;
  const int m = extent(a.rows()), n = extent(a.columns());
  const int k = std::min(m, n);
  const int lda = a.stride();
  Svd<T> result;
  result.u = Matrix<T>(m, job == 'A' ? m : job == 'S' ? k : 0);
  result.s.resize(static_cast<size_t>(k));
  result.vh = Matrix<T>(job == 'A' ? n : job == 'S' ? k : 0, n);
  if (k == 0) {  // any orthonormal vectors will do
    if (job == 'A') result.u = Matrix<T>::identity(m), result.vh = Matrix<T>::identity(n);
    return result;
  }
  if (!a.is_finite()) {
    const R nan = std::numeric_limits<R>::quiet_NaN();
    result.u.fill(nan);
    result.vh.fill(nan);
    std::fill(result.s.begin(), result.s.end(), nan);
    return result;
  }
  const int ldvh = result.vh.stride();
  std::vector<int> iwork(static_cast<size_t>(8) * k);
  int info = 0;
  with_work<T>([&](T* work, int length) {
    if constexpr (kIsComplex<T>) {
      const auto small = static_cast<size_t>(k), large = static_cast<size_t>(std::max(m, n));
      std::vector<R> rwork(length == -1 ? 1 : small * (5 * small + 2 * large + 7));
      Lapack<T>::gesdd(&job, &m, &n, a.data(), &lda, result.s.data(), result.u.data(), &lda,
                       result.vh.data(), &ldvh, work, &length, rwork.data(), iwork.data(), &info,
                       1);
    } else {
      Lapack<T>::gesdd(&job, &m, &n, a.data(), &lda, result.s.data(), result.u.data(), &lda,
                       result.vh.data(), &ldvh, work, &length, iwork.data(), &info, 1);
    }
  });
  check_ended("gesdd", info);
  return result;
}

template <typename T>
LeastSquares<T> least_squares(Matrix<T> a, const Matrix<T>& b, real_t<T> rcond,
                              const std::string& driver) {
  using R = real_t<T>;
  const int m = extent(a.rows()), n = extent(a.columns()), nrhs = extent(b.columns());
  const int k = std::min(m, n), ldb = std::max({m, n, 1}), lda = a.stride();
  LeastSquares<T> result{Matrix<T>(std::max(m, n), nrhs), 0, {}};
  const bool has_values = driver == "gelsd" || driver == "gelss";
  if (has_values) result.s.resize(static_cast<size_t>(k));
  if (k == 0 || nrhs == 0) return result;
  if (!a.is_finite() || !b.is_finite()) {  // LAPACK might not terminate
    const R nan = std::numeric_limits<R>::quiet_NaN();
    result.solved.fill(nan);
    std::fill(result.s.begin(), result.s.end(), nan);
    return result;
  }
  result.solved.set_part(0, 0, b);
  T* x = result.solved.data();
  int info = 0;
  std::vector<int> iwork(static_cast<size_t>(n));
  // gelsy needs 2n elements and gelss 5k; gelsd returns its size.
  std::vector<R> rwork(static_cast<size_t>(5 * std::max(m, n)));
  const auto call = [&](auto routine, auto... own) {
    with_work<T>([&](T* work, int length) {
      if constexpr (kIsComplex<T>) {
        routine(&m, &n, &nrhs, a.data(), &lda, x, &ldb, own..., &rcond, &result.rank, work, &length,
                rwork.data(), &info);
      } else {
        routine(&m, &n, &nrhs, a.data(), &lda, x, &ldb, own..., &rcond, &result.rank, work, &length,
                &info);
      }
    });
  };
  if (driver == "gelsy") {
    call(Lapack<T>::gelsy, iwork.data());
  } else if (driver == "gelss") {
    call(Lapack<T>::gelss, result.s.data());
  } else if (driver == "gelsd") {
    with_work<T>([&](T* work, int length) {
      if constexpr (kIsComplex<T>) {
        Lapack<T>::gelsd(&m, &n, &nrhs, a.data(), &lda, x, &ldb, result.s.data(), &rcond,
                         &result.rank, work, &length, rwork.data(), iwork.data(), &info);
        if (length == -1) rwork.resize(static_cast<size_t>(rwork[0]));
      } else {
        Lapack<T>::gelsd(&m, &n, &nrhs, a.data(), &lda, x, &ldb, result.s.data(), &rcond,
                         &result.rank, work, &length, iwork.data(), &info);
      }
      if (length == -1) iwork.resize(static_cast<size_t>(std::max(iwork[0], 1)));
    });
  } else {
    with_work<T>([&](T* work, int length) {
      Lapack<T>::gels("N", &m, &n, &nrhs, a.data(), &lda, x, &ldb, work, &length, &info, 1);
    });
    PHI_CHECK(info == 0,
              errors::InvalidArgument("a matrix of x does not have full rank, which driver 'gels' "
                                      "requires; use 'gelsy', 'gelsd' or 'gelss'."));
  }
  check_ended(driver.c_str(), info);
  return result;
}

#define PHI_INSTANTIATE(T)              \
  template Svd<T> svd(Matrix<T>, char); \
  template LeastSquares<T> least_squares(Matrix<T>, const Matrix<T>&, real_t<T>, const std::string&)
PHI_INSTANTIATE(float);
PHI_INSTANTIATE(double);
PHI_INSTANTIATE(complex64);
PHI_INSTANTIATE(complex128);
#undef PHI_INSTANTIATE

}  // namespace phi::linalg
