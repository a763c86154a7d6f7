// Matrix: one column-major matrix, as LAPACK uses it, with the operations in which linear algebra
// kernels and their gradients are written.
//
//   const auto l = Matrix<double>::from(x, n, n);       // of a row-major array
//   const Matrix<double> s = adjoint(l) * g;
//   s.to(out);
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "phi/common/dtype.h"
#include "phi/core/dense_tensor.h"
#include "phi/kernels/cpu/linalg/small_array.h"
#include "phi/kernels/cpu/transpose_matrix.h"
#include "phi/kernels/real_type.h"

namespace phi::linalg {

/// LAPACK's element types.
using MatrixTypes = join_t<TypeList<float, double>, Complexes>;

template <typename T>
bool is_finite(T x) {
  if constexpr (kIsComplex<T>) return std::isfinite(x.real()) && std::isfinite(x.imag());
  return std::isfinite(real_part(x));
}

template <typename T>
class Matrix {
 public:
  Matrix() = default;
  /// Zeros.
  Matrix(int64_t rows, int64_t columns)
      : rows_(rows), columns_(columns), elements_(static_cast<size_t>(rows * columns)) {}
  static Matrix from(const T* row_major, int64_t rows, int64_t columns) {
    Matrix x(rows, columns);
    transpose_matrix(row_major, columns, x.data(), rows, rows, columns);
    return x;
  }
  static Matrix identity(int64_t n) {
    Matrix x(n, n);
    for (int64_t i = 0; i < n; ++i) x(i, i) = T(1);
    return x;
  }
  void to(T* row_major) const {
    transpose_matrix(data(), rows_, row_major, columns_, columns_, rows_);
  }

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  /// Column stride. It is at least 1, as LAPACK requires also for matrices without rows.
  int stride() const { return static_cast<int>(std::max<int64_t>(rows_, 1)); }
  T* data() { return elements_.data(); }
  const T* data() const { return elements_.data(); }
  T& operator()(int64_t i, int64_t j) { return elements_[static_cast<size_t>(j * rows_ + i)]; }
  const T& operator()(int64_t i, int64_t j) const {
    return elements_[static_cast<size_t>(j * rows_ + i)];
  }
  bool is_finite() const {
    return std::all_of(elements_.begin(), elements_.end(),
                       [](T x) { return linalg::is_finite(x); });
  }
  void fill(T value) { std::fill(elements_.begin(), elements_.end(), value); }
  /// Calls f(i, j, element) for each element.
  template <typename F>
  Matrix& for_each(F&& f) {
    for (int64_t j = 0; j < columns_; ++j) {
      for (int64_t i = 0; i < rows_; ++i) f(i, j, (*this)(i, j));
    }
    return *this;
  }
  /// Returns a copy of the rows x columns submatrix that begins at (row, column).
  Matrix part(int64_t row, int64_t column, int64_t rows, int64_t columns) const {
    Matrix x(rows, columns);
    x.for_each([&](int64_t i, int64_t j, T& to) { to = (*this)(row + i, column + j); });
    return x;
  }
  /// Writes `x` to the submatrix that begins at (row, column).
  void set_part(int64_t row, int64_t column, const Matrix& x) {
    for (int64_t j = 0; j < x.columns(); ++j) {
      for (int64_t i = 0; i < x.rows(); ++i) (*this)(row + i, column + j) = x(i, j);
    }
  }
  Matrix& operator+=(const Matrix& x) {
    return for_each([&](int64_t i, int64_t j, T& to) { to += x(i, j); });
  }
  Matrix& operator-=(const Matrix& x) {
    return for_each([&](int64_t i, int64_t j, T& to) { to -= x(i, j); });
  }
  friend Matrix operator+(Matrix a, const Matrix& b) { return a += b; }
  friend Matrix operator-(Matrix a, const Matrix& b) { return a -= b; }

 private:
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  SmallArray<T> elements_;
};

template <typename T>
Matrix<T> adjoint(const Matrix<T>& x) {
  Matrix<T> y(x.columns(), x.rows());
  return y.for_each([&](int64_t i, int64_t j, T& to) { to = conjugate(x(j, i)); });
}
template <typename T>
Matrix<T> transposed(const Matrix<T>& x) {
  Matrix<T> y(x.columns(), x.rows());
  return y.for_each([&](int64_t i, int64_t j, T& to) { to = x(j, i); });
}
template <typename T>
Matrix<T> conjugated(Matrix<T> x) {
  return x.for_each([](int64_t, int64_t, T& to) { to = conjugate(to); });
}
template <typename T>
Matrix<T> negated(Matrix<T> x) {
  return x.for_each([](int64_t, int64_t, T& to) { to = -to; });
}
/// Sets elements above diagonal `k` to 0.
template <typename T>
Matrix<T> tril(Matrix<T> x, int64_t k = 0) {
  return x.for_each([k](int64_t i, int64_t j, T& to) { to = j - i <= k ? to : T(0); });
}
/// Sets elements below diagonal `k` to 0.
template <typename T>
Matrix<T> triu(Matrix<T> x, int64_t k = 0) {
  return x.for_each([k](int64_t i, int64_t j, T& to) { to = j - i >= k ? to : T(0); });
}
/// Returns (x + adjoint(x)) / 2.
template <typename T>
Matrix<T> symmetric(const Matrix<T>& x) {
  Matrix<T> y(x.rows(), x.columns());
  return y.for_each(
      [&](int64_t i, int64_t j, T& to) { to = (x(i, j) + conjugate(x(j, i))) * real_t<T>(0.5); });
}
/// Multiplies column j by scales[j].
template <typename T, typename Scale>
Matrix<T> scale_columns(Matrix<T> x, const std::vector<Scale>& scales) {
  return x.for_each([&](int64_t, int64_t j, T& to) { to *= scales[static_cast<size_t>(j)]; });
}
/// Multiplies row i by scales[i].
template <typename T, typename Scale>
Matrix<T> scale_rows(Matrix<T> x, const std::vector<Scale>& scales) {
  return x.for_each([&](int64_t i, int64_t, T& to) { to *= scales[static_cast<size_t>(i)]; });
}
/// Returns a / b, or 0 if a is 0: a gradient of 0 stays 0 whatever its divisor.
template <typename T, typename Divisor>
T quotient_or_zero(T a, Divisor b) {
  return a == T(0) ? T(0) : a / b;
}

/// Matrix multiplication.
template <typename T>
Matrix<T> operator*(const Matrix<T>& a, const Matrix<T>& b);

/// Returns the number of matrices in a batch; a matrix is the last two tensor dims.
inline int64_t matrices_in(const Dims& dims) { return dims.numel(0, dims.ndim() - 2); }
/// Extents of the matrices.
inline int64_t rows_of(const DenseTensor& x) { return x.dims()[x.ndim() - 2]; }
inline int64_t columns_of(const DenseTensor& x) { return x.dims()[x.ndim() - 1]; }

/// Returns a copy of matrix `b` of a batch.
template <typename T>
Matrix<T> matrix_of(const DenseTensor& x, int64_t b) {
  const int64_t rows = rows_of(x), columns = columns_of(x);
  return Matrix<T>::from(x.data<T>() + b * rows * columns, rows, columns);
}
/// Writes `x` to matrix `b` of a batch.
template <typename T>
void put_matrix(const Matrix<T>& x, int64_t b, DenseTensor* out) {
  x.to(out->mutable_data<T>() + b * x.rows() * x.columns());
}
/// Returns the n numbers of matrix `b` in an array that has n per matrix.
template <typename T>
std::vector<T> vector_of(const DenseTensor& x, int64_t b, int64_t n) {
  const T* from = x.data<T>() + b * n;
  return {from, from + n};
}
template <typename Vector>
void put_vector(const Vector& x, int64_t b, DenseTensor* out) {
  using T = typename Vector::value_type;
  std::copy(x.begin(), x.end(), out->mutable_data<T>() + b * static_cast<int64_t>(x.size()));
}

}  // namespace phi::linalg
