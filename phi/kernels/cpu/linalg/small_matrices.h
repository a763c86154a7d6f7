// Determinants and systems of equations of many small matrices, side by side: one in each lane of a
// register.
//
//   const std::vector<double> x(1024 * 3 * 3, 0.5);
//   std::vector<double> diagonals(1024 * 3);
//   const bool found = linalg::small_diagonals<double>({x.data(), 3, 1024}, diagonals.data());
//
// Nothing is done, and the answer is none, where matrices are not small: real, of up to 16 rows. It
// is not asked how many there are, so that a matrix's result is the same whatever is beside it.
#pragma once

#include <cstdint>
#include <optional>

namespace phi::linalg {

/// `count` matrices of n rows and columns, row-major, one behind the other, or their transposes.
template <typename T>
struct SmallMatrices {
  const T* first;
  int64_t n;
  int64_t count;
  bool transposed = false;
};

/// A right-hand side of `columns` columns for each of them, `step` elements from one to the next.
template <typename T>
struct SmallSides {
  const T* first;
  int64_t columns;
  int64_t step;
};

/// Of each matrix U's diagonal, after elimination with partial pivoting; its first element is
/// negated for an odd number of swaps, so that the product is the determinant.
template <typename T>
bool small_diagonals(const SmallMatrices<T>& a, T* diagonals);

/// x = a^-1 b of each matrix and its right-hand side. The number of the first matrix that is
/// singular, or -1.
template <typename T>
std::optional<int64_t> small_solve(const SmallMatrices<T>& a, const SmallSides<T>& b, T* x);

/// x = a^-1 of each matrix; else the same.
template <typename T>
std::optional<int64_t> small_inverse(const SmallMatrices<T>& a, T* x);

}  // namespace phi::linalg
