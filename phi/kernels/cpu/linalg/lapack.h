// Matrix factorisations, from LAPACK or implemented here, and triangular solves, for every element
// type. All throw Internal if an iteration does not converge.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "phi/kernels/cpu/linalg/matrix.h"

namespace phi::linalg {

/// An LU factorisation P a = L U. `factors` has U and, below its diagonal, the unit lower triangle
/// L. `pivots[i]`, counted from 1, is the row that was swapped with row i. `info` is the position
/// of the first zero on U's diagonal, counted from 1, or 0.
template <typename T>
struct Lu {
  /// The factors of `a`, before the factorisation in place.
  explicit Lu(Matrix<T> a)
      : factors(std::move(a)),
        pivots(static_cast<size_t>(std::min(factors.rows(), factors.columns()))) {}

  Matrix<T> factors;
  SmallArray<int> pivots;
  int info = 0;
};
template <typename T>
Lu<T> lu_factor(Matrix<T> a);
/// Returns x of a x = b.
template <typename T>
Matrix<T> lu_solve(const Lu<T>& lu, Matrix<T> b);
/// Returns P x: applies the swaps of `pivots`.
template <typename T>
Matrix<T> swap_rows(Matrix<T> x, std::span<const int> pivots);
/// Returns P^T x: reverses the swaps of `pivots`.
template <typename T>
Matrix<T> unswap_rows(Matrix<T> x, std::span<const int> pivots);

/// Replaces Hermitian `a`, of which the lower (or upper) triangle is read, by its Cholesky factor,
/// with 0 in the other triangle. Returns false if the matrix is not positive definite.
template <typename T>
bool cholesky_factor(Matrix<T>* a, bool lower);

enum class Op : char { kNone = 'N', kTranspose = 'T', kAdjoint = 'C' };
struct Triangle {
  bool upper = false;
  bool unit = false;  // the diagonal is read as ones
};
/// Return op(a)^-1 b, and b op(a)^-1, where a is a triangle of the matrix.
template <typename T>
Matrix<T> solve_left(const Matrix<T>& a, Triangle triangle, Op op, Matrix<T> b);
template <typename T>
Matrix<T> solve_right(Matrix<T> b, const Matrix<T>& a, Triangle triangle, Op op);

/// Eigenvalues in LAPACK's order and, with `vectors`, their eigenvectors as columns of norm 1.
template <typename T>
struct Eigen {
  using C = Complex<real_t<T>>;
  std::vector<C> values;
  Matrix<C> vectors;
};
template <typename T>
Eigen<T> eigen(Matrix<T> a, bool vectors);
/// Eigenvalues of a Hermitian matrix, in rising order, and their eigenvectors.
template <typename T>
struct HermitianEigen {
  std::vector<real_t<T>> values;
  Matrix<T> vectors;
};
template <typename T>
HermitianEigen<T> hermitian_eigen(Matrix<T> a, bool lower, bool vectors);

/// a = u diag(s) vh, with s in falling order. `job` selects the vectors: 'S' as many as values, 'A'
/// all, 'N' none.
template <typename T>
struct Svd {
  Matrix<T> u;
  std::vector<real_t<T>> s;
  Matrix<T> vh;
};
template <typename T>
Svd<T> svd(Matrix<T> a, char job);

/// a = q r, where q has `columns` columns and r as many rows. If `columns` is 0, q is empty and r
/// has min(rows, columns) of a rows.
template <typename T>
struct Qr {
  Matrix<T> q;
  Matrix<T> r;
};
template <typename T>
Qr<T> qr(Matrix<T> a, int64_t columns);

/// Minimises |a x - b| by `driver` "gels", "gelsy", "gelsd" or "gelss". `solved` has as many rows
/// as the larger extent of a: x and, if a has more rows than columns, the remaining rows of b as
/// LAPACK leaves them. `rank` is set by all drivers except gels, `s` by gelsd and gelss.
template <typename T>
struct LeastSquares {
  Matrix<T> solved;
  int rank = 0;
  std::vector<real_t<T>> s;
};
template <typename T>
LeastSquares<T> least_squares(Matrix<T> a, const Matrix<T>& b, real_t<T> rcond,
                              const std::string& driver);

}  // namespace phi::linalg
