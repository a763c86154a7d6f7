// Factorisations, LAPACK's and our own, and triangular solves for matrices of every element type.
// All of them throw Internal where an iteration does not come to an end.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "phi/kernels/cpu/linalg/matrix.h"

namespace phi::linalg {

/// P a = L U: the unit lower triangle of L and U in one matrix; `pivots[i]`, counted from 1, is the
/// row that was swapped with row i. `info` is the first zero on U's diagonal, counted from 1, else
/// 0.
template <typename T>
struct Lu {
  /// Of a matrix that is factored in its place.
  explicit Lu(Matrix<T> a)
      : factors(std::move(a)),
        pivots(static_cast<size_t>(std::min(factors.rows(), factors.columns()))) {}

  Matrix<T> factors;
  SmallArray<int> pivots;
  int info = 0;
};
template <typename T>
Lu<T> lu_factor(Matrix<T> a);
/// x in a x = b.
template <typename T>
Matrix<T> lu_solve(const Lu<T>& lu, Matrix<T> b);
/// P x: the swaps of `pivots`.
template <typename T>
Matrix<T> swap_rows(Matrix<T> x, std::span<const int> pivots);
/// P^T x: the swaps of `pivots` undone.
template <typename T>
Matrix<T> unswap_rows(Matrix<T> x, std::span<const int> pivots);

/// The factor of a Hermitian matrix whose triangle `lower` (or the upper one) is read, the other
/// triangle 0. False where the matrix is not positive definite.
template <typename T>
bool cholesky_factor(Matrix<T>* a, bool lower);

enum class Op : char { kNone = 'N', kTranspose = 'T', kAdjoint = 'C' };
struct Triangle {
  bool upper = false;
  bool unit = false;  // the diagonal counts as ones
};
/// op(a)^-1 b, and b op(a)^-1, of a triangle of a.
template <typename T>
Matrix<T> solve_left(const Matrix<T>& a, Triangle triangle, Op op, Matrix<T> b);
template <typename T>
Matrix<T> solve_right(Matrix<T> b, const Matrix<T>& a, Triangle triangle, Op op);

/// Eigenvalues in LAPACK's order, and with `vectors` the columns that belong to them, of norm 1.
template <typename T>
struct Eigen {
  using C = Complex<real_t<T>>;
  std::vector<C> values;
  Matrix<C> vectors;
};
template <typename T>
Eigen<T> eigen(Matrix<T> a, bool vectors);
/// Of a Hermitian matrix, in rising order.
template <typename T>
struct HermitianEigen {
  std::vector<real_t<T>> values;
  Matrix<T> vectors;
};
template <typename T>
HermitianEigen<T> hermitian_eigen(Matrix<T> a, bool lower, bool vectors);

/// a = u diag(s) vh, s falling. `job` is 'S' for as many vectors as values, 'A' for all, 'N' for
/// none.
template <typename T>
struct Svd {
  Matrix<T> u;
  std::vector<real_t<T>> s;
  Matrix<T> vh;
};
template <typename T>
Svd<T> svd(Matrix<T> a, char job);

/// a = q r; q has `columns` columns, and none with 0, r as many rows as that but min(rows, columns
/// of a) then.
template <typename T>
struct Qr {
  Matrix<T> q;
  Matrix<T> r;
};
template <typename T>
Qr<T> qr(Matrix<T> a, int64_t columns);

/// What minimises |a x - b|, by driver "gels", "gelsy", "gelsd" or "gelss". `solved` has the rows
/// of the larger extent of a: x, and where a has more rows what is left of b. `rank` is of drivers
/// other than gels, `s` of gelsd and gelss.
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
