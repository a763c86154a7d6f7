// LU factorisation with partial pivoting, by recursive halves of columns (Toledo, "Locality of
// reference in LU decomposition with partial pivoting", 1997), so that most of the work is matmuls.
#include <algorithm>

#include "phi/kernels/cpu/linalg/submatrix.h"
#include "phi/kernels/cpu/loop_isa.h"

namespace phi::linalg {
namespace {

constexpr int kPanel = 8;  // columns that are eliminated one by one
constexpr Triangle kUnitLower{.unit = true};

/// Applies the swaps of pivots [first, last) to the columns of a.
template <typename T>
void swap_in_place(Submatrix<T> a, std::span<const int> pivots, int first, int last) {
  for (int j = 0; j < a.columns; ++j) {
    T* x = a.column(j);
    for (int i = first; i < last; ++i) std::swap(x[i], x[pivots[static_cast<size_t>(i)] - 1]);
  }
}

template <typename T>
class Elimination {
 public:
  explicit Elimination(Lu<T>* lu) : lu_(*lu), a_(whole(lu->factors)) {}

  void run() {
    const int k = std::min(a_.rows, a_.columns);
    columns(0, k);
    if (k < a_.columns) pass_on(0, k, a_.columns);
  }

 private:
  /// Factors columns [from, to) below the rows that are done.
  void columns(int from, int to) {
    if (to - from <= kPanel) {
      for (int j = from; j < to; ++j) column(j, from, to);
      return;
    }
    const int middle = from + (to - from) / 2;
    columns(from, middle);
    pass_on(from, middle, to);
    columns(middle, to);
    swap(middle, to, from, middle);
  }

  /// Applies the elimination of columns [from, middle) to columns [middle, to).
  void pass_on(int from, int middle, int to) {
    swap(from, middle, middle, to);
    const Submatrix<T> below = a_.part(middle, middle, a_.rows, to);
    const Submatrix<T> beside = a_.part(from, middle, middle, to);
    solve_in_place<T>(true, kUnitLower, Op::kNone, a_.part(from, from, middle, middle), beside);
    subtract_matmul<T>(Op::kNone, a_.part(middle, from, a_.rows, middle), Op::kNone, beside, below);
  }

  /// Eliminates column j of the panel [from, to): finds its pivot and updates the columns to its
  /// right.
  void column(int j, int from, int to) {
    const int n = a_.rows - j;
    T* x = &a_(j, j);
    const int pivot = largest(x, n);
    lu_.pivots[static_cast<size_t>(j)] = j + pivot + 1;
    if (x[pivot] == T(0)) {
      if (lu_.info == 0) lu_.info = j + 1;
      return;
    }
    swap(j, j + 1, from, to);
    divide(x + 1, n - 1, *x);
    for (int c = j + 1; c < to; ++c) subtract_column(x, &a_(j, c), n);
  }

  /// Returns the first element of largest magnitude. The result is an element of the column also if
  /// there are NaN.
  static int largest(const T* x, int n) {
    if constexpr (!kIsComplex<T>) {
      int at = 0;
      for (int i = 1; n <= kPanel && i < n; ++i) at = std::fabs(x[i]) > std::fabs(x[at]) ? i : at;
      if (n <= kPanel) return at;
    }
    return std::min(static_cast<int>(Lapack<T>::largest(n, x, 1)), n - 1);
  }

  static void divide(T* x, int n, T divisor) {
    run_best_isa<T>([=] {
      for (int i = 0; i < n; ++i) x[i] /= divisor;
    });
  }

  /// Sets y[i] -= y[0] x[i] below the first element.
  static void subtract_column(const T* x, T* y, int n) {
    const T factor = *y;
    if constexpr (kIsComplex<T>) {
      const T minus = -factor;
      return Lapack<T>::axpy(n - 1, &minus, x + 1, 1, y + 1, 1);
    }
    run_best_isa<T>([=] {
      for (int i = 1; i < n; ++i) y[i] -= factor * x[i];
    });
  }

  /// Applies the swaps of pivots [first, last) to columns [from, to).
  void swap(int first, int last, int from, int to) {
    swap_in_place(a_.part(0, from, a_.rows, to), lu_.pivots, first, last);
  }

  Lu<T>& lu_;
  Submatrix<T> a_;
};

}  // namespace

template <typename T>
Lu<T> lu_factor(Matrix<T> a) {
  Lu<T> lu(std::move(a));
  Elimination<T>(&lu).run();
  return lu;
}

template <typename T>
Matrix<T> lu_solve(const Lu<T>& lu, Matrix<T> b) {
  b = solve_left(lu.factors, kUnitLower, Op::kNone, swap_rows(std::move(b), lu.pivots));
  return solve_left(lu.factors, {.upper = true}, Op::kNone, std::move(b));
}

template <typename T>
Matrix<T> swap_rows(Matrix<T> x, std::span<const int> pivots) {
  swap_in_place(whole(x), pivots, 0, extent(std::ssize(pivots)));
  return x;
}

template <typename T>
Matrix<T> unswap_rows(Matrix<T> x, std::span<const int> pivots) {
  for (int64_t j = 0; j < x.columns(); ++j) {
    for (size_t i = pivots.size(); i-- > 0;) {
      std::swap(x(static_cast<int64_t>(i), j), x(pivots[i] - 1, j));
    }
  }
  return x;
}

#define PHI_INSTANTIATE(T)                                       \
  template Lu<T> lu_factor(Matrix<T>);                           \
  template Matrix<T> lu_solve(const Lu<T>&, Matrix<T>);          \
  template Matrix<T> swap_rows(Matrix<T>, std::span<const int>); \
  template Matrix<T> unswap_rows(Matrix<T>, std::span<const int>)
PHI_INSTANTIATE(float);
PHI_INSTANTIATE(double);
PHI_INSTANTIATE(complex64);
PHI_INSTANTIATE(complex128);
#undef PHI_INSTANTIATE

}  // namespace phi::linalg
