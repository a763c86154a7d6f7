// Determinants and systems of equations of many small matrices at once, one in each lane of a
// register.
//
//   const std::vector<double> x(1024 * 3 * 3, 0.5);
//   std::vector<double> diagonals(1024 * 3);
//   const bool found = linalg::small_diagonals<double>({x.data(), 3, 1024}, diagonals.data());
//
// Matrices are small if they are real and have up to 16 rows. For others the functions do nothing
// and return false or nullopt. The number of matrices does not matter, so that a matrix's result
// does not depend on the rest of the batch.
#pragma once

#include <cstdint>
#include <optional>

namespace phi::linalg {

/// `count` contiguous row-major n x n matrices, or their transposes.
template <typename T>
struct SmallMatrices {
  const T* first;
  int64_t n;
  int64_t count;
  bool transposed = false;
};

/// A right-hand side of `columns` columns for each matrix; consecutive ones are `step` elements
/// apart.
template <typename T>
struct SmallSides {
  const T* first;
  int64_t columns;
  int64_t step;
};

/// Writes the diagonal of U of each matrix, after elimination with partial pivoting. Its first
/// element is negated if the number of swaps is odd, so that the diagonal's product is the
/// determinant.
template <typename T>
bool small_diagonals(const SmallMatrices<T>& a, T* diagonals);

/// Sets x = a^-1 b for each matrix and its right-hand side. Returns the number of the first
/// singular matrix, or -1 if there is none.
template <typename T>
std::optional<int64_t> small_solve(const SmallMatrices<T>& a, const SmallSides<T>& b, T* x);

/// Sets x = a^-1 for each matrix. Returns what small_solve returns.
template <typename T>
std::optional<int64_t> small_inverse(const SmallMatrices<T>& a, T* x);

}  // namespace phi::linalg
