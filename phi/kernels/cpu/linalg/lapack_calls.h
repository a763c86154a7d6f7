// LAPACK's Fortran routines of OpenBLAS, by element type: Lapack<T>::getrf and so on.
#pragma once

#include <cblas.h>

#include <complex>
#include <cstddef>
#include <limits>

#include "phi/common/errors.h"
#include "phi/kernels/cpu/linalg/matrix.h"
#include "phi/kernels/cpu/matmul/openblas_buffer.h"

// Fortran passes the lengths of character arguments as further arguments at the end.
#define PHI_LAPACK_OF_ALL(p, T)                                                             \
  void p##potrf_(const char* uplo, const int* n, T* a, const int* lda, int* info, size_t);  \
  void p##geqrf_(const int* m, const int* n, T* a, const int* lda, T* tau, T* work,         \
                 const int* lwork, int* info);                                              \
  void p##gels_(const char* trans, const int* m, const int* n, const int* nrhs, T* a,       \
                const int* lda, T* b, const int* ldb, T* work, const int* lwork, int* info, \
                size_t);

#define PHI_LAPACK_OF_REAL(p, T)                                                                  \
  PHI_LAPACK_OF_ALL(p, T)                                                                         \
  void p##orgqr_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau,    \
                 T* work, const int* lwork, int* info);                                           \
  void p##geev_(const char* left, const char* right, const int* n, T* a, const int* lda, T* wr,   \
                T* wi, T* vl, const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork, \
                int* info, size_t, size_t);                                                       \
  void p##syevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, T* w,     \
                 T* work, const int* lwork, int* iwork, const int* liwork, int* info, size_t,     \
                 size_t);                                                                         \
  void p##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, T* s, T* u,   \
                 const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, int* iwork,   \
                 int* info, size_t);                                                              \
  void p##gelsy_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b,         \
                 const int* ldb, int* pivots, const T* rcond, int* rank, T* work,                 \
                 const int* lwork, int* info);                                                    \
  void p##gelsd_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b,         \
                 const int* ldb, T* s, const T* rcond, int* rank, T* work, const int* lwork,      \
                 int* iwork, int* info);                                                          \
  void p##gelss_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b,         \
                 const int* ldb, T* s, const T* rcond, int* rank, T* work, const int* lwork,      \
                 int* info);

#define PHI_LAPACK_OF_COMPLEX(p, T, R)                                                          \
  PHI_LAPACK_OF_ALL(p, T)                                                                       \
  void p##ungqr_(const int* m, const int* n, const int* k, T* a, const int* lda, const T* tau,  \
                 T* work, const int* lwork, int* info);                                         \
  void p##geev_(const char* left, const char* right, const int* n, T* a, const int* lda, T* w,  \
                T* vl, const int* ldvl, T* vr, const int* ldvr, T* work, const int* lwork,      \
                R* rwork, int* info, size_t, size_t);                                           \
  void p##heevd_(const char* job, const char* uplo, const int* n, T* a, const int* lda, R* w,   \
                 T* work, const int* lwork, R* rwork, const int* lrwork, int* iwork,            \
                 const int* liwork, int* info, size_t, size_t);                                 \
  void p##gesdd_(const char* job, const int* m, const int* n, T* a, const int* lda, R* s, T* u, \
                 const int* ldu, T* vt, const int* ldvt, T* work, const int* lwork, R* rwork,   \
                 int* iwork, int* info, size_t);                                                \
  void p##gelsy_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b,       \
                 const int* ldb, int* pivots, const R* rcond, int* rank, T* work,               \
                 const int* lwork, R* rwork, int* info);                                        \
  void p##gelsd_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b,       \
                 const int* ldb, R* s, const R* rcond, int* rank, T* work, const int* lwork,    \
                 R* rwork, int* iwork, int* info);                                              \
  void p##gelss_(const int* m, const int* n, const int* nrhs, T* a, const int* lda, T* b,       \
                 const int* ldb, R* s, const R* rcond, int* rank, T* work, const int* lwork,    \
                 R* rwork, int* info);

extern "C" {
PHI_LAPACK_OF_REAL(s, float)
PHI_LAPACK_OF_REAL(d, double)
PHI_LAPACK_OF_COMPLEX(c, phi::Complex<float>, float)
PHI_LAPACK_OF_COMPLEX(z, phi::Complex<double>, double)
}

namespace phi::linalg {

/// Calls the routine once address space for its buffer is reserved.
template <auto kRoutine>
inline constexpr auto kInRoom = [](auto... args) {
  const OpenblasCall call;
  return kRoutine(args...);
};

template <typename T>
struct Lapack;

#define PHI_LAPACK_MEMBERS(p, T, hermitian, generate)                  \
  template <>                                                          \
  struct Lapack<T> {                                                   \
    static constexpr auto potrf = kInRoom<p##potrf_>;                  \
    static constexpr auto geqrf = kInRoom<p##geqrf_>;                  \
    static constexpr auto make_q = kInRoom<p##generate##qr_>;          \
    static constexpr auto geev = kInRoom<p##geev_>;                    \
    static constexpr auto hermitian_evd = kInRoom<p##hermitian##evd_>; \
    static constexpr auto gesdd = kInRoom<p##gesdd_>;                  \
    static constexpr auto gels = kInRoom<p##gels_>;                    \
    static constexpr auto gelsy = kInRoom<p##gelsy_>;                  \
    static constexpr auto gelsd = kInRoom<p##gelsd_>;                  \
    static constexpr auto gelss = kInRoom<p##gelss_>;                  \
    static constexpr auto gemm = kInRoom<cblas_##p##gemm>;             \
    static constexpr auto trsm = kInRoom<cblas_##p##trsm>;             \
    /* These take no buffer. */                                        \
    static constexpr auto largest = cblas_i##p##amax;                  \
    static constexpr auto axpy = cblas_##p##axpy;                      \
  };
PHI_LAPACK_MEMBERS(s, float, sy, org)
PHI_LAPACK_MEMBERS(d, double, sy, org)
PHI_LAPACK_MEMBERS(c, complex64, he, ung)
PHI_LAPACK_MEMBERS(z, complex128, he, ung)

#undef PHI_LAPACK_OF_ALL
#undef PHI_LAPACK_OF_REAL
#undef PHI_LAPACK_OF_COMPLEX
#undef PHI_LAPACK_MEMBERS

/// Converts a number to BLAS's argument type: complex numbers are passed by address.
inline float blas_number(const float& x) { return x; }
inline double blas_number(const double& x) { return x; }
template <typename R>
const Complex<R>* blas_number(const Complex<R>& x) {
  return &x;
}

/// LAPACK's extents are 32 bits wide.
inline int extent(int64_t n) {
  PHI_CHECK(n <= std::numeric_limits<int>::max(),
            errors::Internal("a matrix has an extent of {}, more than LAPACK supports.", n));
  return static_cast<int>(n);
}

inline void check_ended(const char* routine, int info) {
  PHI_CHECK(info == 0, errors::Internal("LAPACK's {} did not converge (info {}).", routine, info));
}

/// Allocates the workspace of a routine that returns its size if called with a length of -1, and
/// calls `call(work, length)`.
template <typename T, typename Call>
void with_work(Call&& call) {
  T needed = 0;
  call(&needed, -1);
  std::vector<T> work(static_cast<size_t>(std::max(real_part(needed), real_t<T>(1))));
  call(work.data(), extent(static_cast<int64_t>(work.size())));
}

}  // namespace phi::linalg
