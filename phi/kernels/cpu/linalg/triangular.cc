// Triangular solves by recursive halves.
#include <array>

#include "phi/kernels/cpu/linalg/submatrix.h"
#include "phi/kernels/cpu/loop_isa.h"

namespace phi::linalg {
namespace {

/// Larger solves are split into two of half the extent and a matmul, which does most of the work.
constexpr int kLeaf = 32;
/// Up to this many multiply-adds, substitution without any preparation is fastest.
constexpr int64_t kFew = 256;

template <typename T>
struct Solve {
  bool left;
  Triangle triangle;
  Op op;

  bool op_is_lower() const { return triangle.upper == (op != Op::kNone); }
  /// Whether x's first row (or first column, if a is on the right) is computed first.
  bool forwards() const { return left == op_is_lower(); }
  /// Returns the row or column of n that is computed after `found` others.
  int line(int found, int n) const { return forwards() ? found : n - 1 - found; }

  void run(Submatrix<const T> a, Submatrix<T> b) const {
    if (b.rows == 0 || b.columns == 0) return;
    if (int64_t{a.columns} * b.rows * b.columns <= kFew) return few(a, b);
    a.columns <= kLeaf ? leaf(a, b) : halves(a, b);
  }

 private:
  void few(Submatrix<const T> a, Submatrix<T> b) const {
    const int n = a.columns, others = left ? b.columns : b.rows;
    const auto of_a = [&](int i, int j) {
      const bool by_rows = left == (op == Op::kNone);
      const T element = by_rows ? a(i, j) : a(j, i);
      return op == Op::kAdjoint ? conjugate(element) : element;
    };
    for (int other = 0; other < others; ++other) {
      const auto x = [&](int i) -> T& { return left ? b(i, other) : b(other, i); };
      for (int found = 0; found < n; ++found) {
        const int i = line(found, n);
        T sum = x(i);
        for (int k = 0; k < found; ++k) sum -= of_a(i, line(k, n)) * x(line(k, n));
        x(i) = triangle.unit ? sum : sum / of_a(i, i);
      }
    }
  }

  void leaf(Submatrix<const T> a, Submatrix<T> b) const;

  /// Solves the half that does not depend on the other one, subtracts its share from the other half
  /// of b, and solves that.
  void halves(Submatrix<const T> a, Submatrix<T> b) const {
    const int n = a.columns, m = n / 2;
    const Submatrix<const T> corner = triangle.upper ? a.part(0, m, m, n) : a.part(m, 0, n, m);
    const Submatrix<T> first = left ? b.top(m) : b.left(m),
                       last = left ? b.below(m) : b.right_of(m);
    const Submatrix<const T> first_a = a.part(0, 0, m, m), last_a = a.part(m, m, n, n);
    run(forwards() ? first_a : last_a, forwards() ? first : last);
    subtract(corner, forwards() ? first : last, forwards() ? last : first);
    run(forwards() ? last_a : first_a, forwards() ? last : first);
  }

  void subtract(Submatrix<const T> corner, Submatrix<const T> x, Submatrix<T> b) const {
    left ? subtract_matmul<T>(op, corner, Op::kNone, x, b)
         : subtract_matmul<T>(Op::kNone, x, op, corner, b);
  }
};

/// Substitution for a small real triangle, in strips of b that fit into the L1 cache, one line
/// after the other. A line is a row of b, or a column if a is on the right. Used because OpenBLAS's
/// strsm is slow with AVX-512.
template <typename T>
class Strips {
 public:
  Strips(const Solve<T>& solve, Submatrix<const T> a) : solve_(solve), n_(a.columns) {
    const bool by_rows = solve.left == (solve.op == Op::kNone);
    for (int i = 0; i < n_; ++i) {
      for (int j = 0; j < n_; ++j) factors_[i][j] = by_rows ? a(i, j) : a(j, i);
      if (solve.triangle.unit) factors_[i][i] = 1;
    }
  }

  void run(Submatrix<T> b) {
    const int others = solve_.left ? b.columns : b.rows;
    for (int from = 0; from < others; from += kWidth) {
      const int to = std::min(from + kWidth, others);
      const int steps = (to - from + kStep - 1) / kStep;
      for (int i = 0; i < n_; ++i) {
        std::fill(lines_[i].begin() + (to - from), lines_[i].begin() + steps * kStep, T(0));
      }
      solve_.left ? run_rows(b.part(0, from, n_, to), steps)
                  : run_columns(b.part(from, 0, to, n_), steps);
    }
  }

 private:
  static constexpr int kWidth = 256 / sizeof(T);
  static constexpr int kStep = 64 / sizeof(T);
  using StripLine = std::array<T, kWidth>;

  void run_rows(Submatrix<T> strip, int steps) {
    transpose_matrix(strip.data, strip.stride, lines_[0].data(), kWidth, strip.columns, n_);
    substitute(steps);
    transpose_matrix(lines_[0].data(), kWidth, strip.data, strip.stride, n_, strip.columns);
  }

  void run_columns(Submatrix<T> strip, int steps) {
    for (int j = 0; j < n_; ++j) std::copy_n(strip.column(j), strip.rows, lines_[j].data());
    substitute(steps);
    for (int j = 0; j < n_; ++j) std::copy_n(lines_[j].data(), strip.rows, strip.column(j));
  }

  int line(int found) const { return solve_.line(found, n_); }

  void substitute(int steps) {
    run_best_isa<T>([this, width = steps * kStep] {
      for (int i = 0; i < n_; ++i) {
        StripLine& x = lines_[line(i)];
        const auto& f = factors_[line(i)];
        int j = 0;
        for (; j + 4 <= i; j += 4) {
          const int a = line(j), b = line(j + 1), c = line(j + 2), d = line(j + 3);
          for (int k = 0; k < width; ++k) {
            x[k] -= (f[a] * lines_[a][k] + f[b] * lines_[b][k]) +
                    (f[c] * lines_[c][k] + f[d] * lines_[d][k]);
          }
        }
        for (; j < i; ++j) {
          const int a = line(j);
          for (int k = 0; k < width; ++k) x[k] -= f[a] * lines_[a][k];
        }
        for (int k = 0; k < width; ++k) x[k] /= f[line(i)];
      }
    });
  }

  Solve<T> solve_;
  int n_;
  std::array<std::array<T, kLeaf>, kLeaf> factors_{};  // op(a), transposed if a is on the right
  alignas(64) std::array<StripLine, kLeaf> lines_{};   // initialised, so that numbers past a narrow
                                                       // strip stay finite
};

template <typename T>
void Solve<T>::leaf(Submatrix<const T> a, Submatrix<T> b) const {
  if constexpr (kIsComplex<T>) {
    const T one = 1;
    Lapack<T>::trsm(CblasColMajor, left ? CblasLeft : CblasRight,
                    triangle.upper ? CblasUpper : CblasLower, blas_op(op),
                    triangle.unit ? CblasUnit : CblasNonUnit, b.rows, b.columns, blas_number(one),
                    a.data, a.stride, b.data, b.stride);
  } else {
    Strips<T>(*this, a).run(b);
  }
}

}  // namespace

template <typename T>
void solve_in_place(bool left, Triangle triangle, Op op, Submatrix<const T> a, Submatrix<T> b) {
  Solve<T>{left, triangle, op}.run(a, b);
}

template <typename T>
Matrix<T> solve_left(const Matrix<T>& a, Triangle triangle, Op op, Matrix<T> b) {
  const int n = extent(b.rows());  // the square part of a, if a is not square
  solve_in_place<T>(true, triangle, op, whole(a).part(0, 0, n, n), whole(b));
  return b;
}
template <typename T>
Matrix<T> solve_right(Matrix<T> b, const Matrix<T>& a, Triangle triangle, Op op) {
  const int n = extent(b.columns());
  solve_in_place<T>(false, triangle, op, whole(a).part(0, 0, n, n), whole(b));
  return b;
}

#define PHI_INSTANTIATE(T)                                                            \
  template void solve_in_place(bool, Triangle, Op, Submatrix<const T>, Submatrix<T>); \
  template Matrix<T> solve_left(const Matrix<T>&, Triangle, Op, Matrix<T>);           \
  template Matrix<T> solve_right(Matrix<T>, const Matrix<T>&, Triangle, Op)
PHI_INSTANTIATE(float);
PHI_INSTANTIATE(double);
PHI_INSTANTIATE(complex64);
PHI_INSTANTIATE(complex128);
#undef PHI_INSTANTIATE

}  // namespace phi::linalg
