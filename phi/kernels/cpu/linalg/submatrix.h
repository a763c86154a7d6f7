// Submatrix: a submatrix in place, for recursive algorithms.
#pragma once

#include "phi/kernels/cpu/linalg/lapack.h"
#include "phi/kernels/cpu/linalg/lapack_calls.h"

namespace phi::linalg {

/// A rows x columns submatrix of a column-major matrix; columns are `stride` elements apart.
template <typename T>
struct Submatrix {
  T* data;
  int rows;
  int columns;
  int stride;

  T& operator()(int i, int j) const { return data[int64_t{j} * stride + i]; }
  T* column(int j) const { return &(*this)(0, j); }
  /// Returns the submatrix from (row, column) to before (to_row, to_column).
  Submatrix part(int row, int column, int to_row, int to_column) const {
    return {&(*this)(row, column), to_row - row, to_column - column, stride};
  }
  Submatrix top(int n) const { return part(0, 0, n, columns); }
  Submatrix below(int n) const { return part(n, 0, rows, columns); }
  Submatrix left(int n) const { return part(0, 0, rows, n); }
  Submatrix right_of(int n) const { return part(0, n, rows, columns); }
  operator Submatrix<const T>() const { return {data, rows, columns, stride}; }
};

/// Returns all of `a`.
///
/// Errors   Internal if an extent does not fit into LAPACK's 32 bits.
template <typename T>
Submatrix<T> whole(Matrix<T>& a) {
  return {a.data(), extent(a.rows()), extent(a.columns()), a.stride()};
}
template <typename T>
Submatrix<const T> whole(const Matrix<T>& a) {
  return {a.data(), extent(a.rows()), extent(a.columns()), a.stride()};
}

inline CBLAS_TRANSPOSE blas_op(Op op) {
  return op == Op::kNone ? CblasNoTrans : op == Op::kTranspose ? CblasTrans : CblasConjTrans;
}

/// c -= op_a(a) op_b(b).
template <typename T>
void subtract_matmul(Op op_a, Submatrix<const T> a, Op op_b, Submatrix<const T> b, Submatrix<T> c) {
  const int inner = op_a == Op::kNone ? a.columns : a.rows;
  if (c.rows == 0 || c.columns == 0 || inner == 0) return;
  const T minus = -1, one = 1;
  Lapack<T>::gemm(CblasColMajor, blas_op(op_a), blas_op(op_b), c.rows, c.columns, inner,
                  blas_number(minus), a.data, a.stride, b.data, b.stride, blas_number(one), c.data,
                  c.stride);
}

/// Solves op(a) x = b or, if not `left`, x op(a) = b, where a is a triangle. x replaces b.
template <typename T>
void solve_in_place(bool left, Triangle triangle, Op op, Submatrix<const T> a, Submatrix<T> b);

}  // namespace phi::linalg
