// Triangular solves and LU factorisations against products written out, of extents on both sides of
// every one at which the way of computing changes (phi/kernels/cpu/linalg/triangular.cc, lu.cc).
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <string>

#include "phi/kernels/cpu/linalg/lapack.h"

namespace phi::linalg {
namespace {

template <typename T>
T drawn(std::mt19937& engine) {
  std::uniform_real_distribution<real_t<T>> draw(-1, 1);
  if constexpr (kIsComplex<T>) {
    const real_t<T> real = draw(engine);
    return T(real, draw(engine));
  } else {
    return draw(engine);
  }
}

template <typename T>
Matrix<T> drawn_matrix(int64_t rows, int64_t columns, std::mt19937& engine) {
  Matrix<T> x(rows, columns);
  x.for_each([&](int64_t, int64_t, T& to) { to = drawn<T>(engine); });
  return x;
}

/// What a solve reads of `a` under `op`, in full.
template <typename T>
Matrix<T> read_of(const Matrix<T>& a, Triangle triangle, Op op) {
  Matrix<T> x(a.rows(), a.columns());
  x.for_each([&](int64_t i, int64_t j, T& to) {
    const int64_t row = op == Op::kNone ? i : j, column = op == Op::kNone ? j : i;
    const bool read = triangle.upper ? row <= column : row >= column;
    if (row == column && triangle.unit) {
      to = 1;
    } else if (read) {
      to = op == Op::kAdjoint ? conjugate(a(row, column)) : a(row, column);
    }
  });
  return x;
}

template <typename T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> c(a.rows(), b.columns());
  c.for_each([&](int64_t i, int64_t j, T& to) {
    for (int64_t k = 0; k < a.columns(); ++k) to += a(i, k) * b(k, j);
  });
  return c;
}

template <typename T>
void expect_near(const Matrix<T>& got, const Matrix<T>& expected, const std::string& what) {
  ASSERT_EQ(got.rows(), expected.rows()) << what;
  ASSERT_EQ(got.columns(), expected.columns()) << what;
  const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-12;
  for (int64_t j = 0; j < got.columns(); ++j) {
    for (int64_t i = 0; i < got.rows(); ++i) {
      const auto gap = got(i, j) - expected(i, j);
      ASSERT_LE(std::abs(real_part(gap)), tolerance) << what << " at " << i << ", " << j;
      if constexpr (kIsComplex<T>) {
        ASSERT_LE(std::abs(gap.imag()), tolerance) << what << " at " << i << ", " << j;
      }
    }
  }
}

/// Diagonals far from 0 and small numbers beside them: errors do not grow.
template <typename T>
Matrix<T> well_conditioned(int64_t n, std::mt19937& engine) {
  Matrix<T> a = drawn_matrix<T>(n, n, engine);
  return a.for_each([&](int64_t i, int64_t j, T& to) {
    to =
        i == j ? to + (real_part(to) < 0 ? T(-2) : T(2)) : to * T(1) / T(static_cast<real_t<T>>(n));
  });
}

template <typename T>
void check_solve(bool left, Triangle triangle, Op op, int64_t n, int64_t others) {
  std::mt19937 engine(static_cast<uint32_t>(n * 1000 + others));
  const Matrix<T> a = well_conditioned<T>(n, engine);
  const Matrix<T> x =
      left ? drawn_matrix<T>(n, others, engine) : drawn_matrix<T>(others, n, engine);
  const Matrix<T> read = read_of(a, triangle, op);
  const std::string what = (left ? "left" : "right") +
                           std::string(triangle.upper ? ", upper" : ", lower") +
                           (triangle.unit ? ", unit, " : ", ") + static_cast<char>(op) + ", " +
                           std::to_string(n) + " x " + std::to_string(others);
  const Matrix<T> got = left ? solve_left(a, triangle, op, product(read, x))
                             : solve_right(product(x, read), a, triangle, op);
  expect_near(got, x, what);
}

template <typename T>
void check_solves() {
  for (const int64_t n : {1, 3, 8, 31, 32, 33, 70}) {
    for (const int64_t others : {1, 4, 16, 63, 65, 130}) {
      for (const Op op : {Op::kNone, Op::kTranspose, Op::kAdjoint}) {
        for (const int flags : {0, 1, 2, 3, 4, 5, 6, 7}) {
          check_solve<T>(flags & 1, {.upper = (flags & 2) != 0, .unit = (flags & 4) != 0}, op, n,
                         others);
        }
      }
    }
  }
}

TEST(TriangularSolve, OfFloat32GivesWhatWasMultiplied) { check_solves<float>(); }
TEST(TriangularSolve, OfFloat64GivesWhatWasMultiplied) { check_solves<double>(); }
TEST(TriangularSolve, OfComplex64GivesWhatWasMultiplied) { check_solves<complex64>(); }
TEST(TriangularSolve, OfComplex128GivesWhatWasMultiplied) { check_solves<complex128>(); }

TEST(TriangularSolve, WithZeroOnItsDiagonalGivesInfinities) {
  for (const int64_t n : {2, 40}) {
    Matrix<double> a = Matrix<double>::identity(n);
    a(0, 0) = 0;
    Matrix<double> b(n, 70);
    b.fill(1);
    EXPECT_TRUE(std::isinf(solve_left(a, {}, Op::kNone, b)(0, 0))) << n;
  }
}

template <typename T>
void check_lu(int64_t rows, int64_t columns) {
  std::mt19937 engine(static_cast<uint32_t>(rows * 1000 + columns));
  const Matrix<T> a = drawn_matrix<T>(rows, columns, engine);
  const std::string what = std::to_string(rows) + " x " + std::to_string(columns);
  const Lu<T> lu = lu_factor(a);
  const int64_t k = std::min(rows, columns);
  ASSERT_EQ(lu.info, 0) << what;
  ASSERT_EQ(static_cast<int64_t>(lu.pivots.size()), k) << what;
  Matrix<T> l(rows, k), u(k, columns);
  l.for_each([&](int64_t i, int64_t j, T& to) {
    to = i == j ? T(1) : i > j ? lu.factors(i, j) : T(0);
  });
  u.for_each([&](int64_t i, int64_t j, T& to) { to = i <= j ? lu.factors(i, j) : T(0); });
  l.for_each([&](int64_t, int64_t, T& to) {
    // Pivots are the largest by |re| + |im|, as LAPACK takes them: complex ones may be smaller by
    // root 2.
    EXPECT_LE(std::abs(std::complex<double>(to)), kIsComplex<T> ? 1.4143 : 1.0001) << what;
  });
  expect_near(unswap_rows(product(l, u), lu.pivots), a, what);
  expect_near(product(l, u), swap_rows(a, lu.pivots), what);
}

template <typename T>
void check_lus() {
  constexpr std::array<int64_t, 9> kExtents = {1, 2, 7, 8, 9, 17, 33, 40, 100};
  for (const int64_t rows : kExtents) {
    for (const int64_t columns : kExtents) check_lu<T>(rows, columns);
  }
}

TEST(LuFactor, OfFloat32IsProductOfItsFactors) { check_lus<float>(); }
TEST(LuFactor, OfFloat64IsProductOfItsFactors) { check_lus<double>(); }
TEST(LuFactor, OfComplex64IsProductOfItsFactors) { check_lus<complex64>(); }
TEST(LuFactor, OfComplex128IsProductOfItsFactors) { check_lus<complex128>(); }

TEST(LuFactor, SaysWhichPivotIsFirstToBeZero) {
  std::mt19937 engine(1);
  for (const int64_t n : {4, 40}) {
    for (const int64_t zero : {int64_t{0}, n / 2, n - 1}) {
      Matrix<double> a = drawn_matrix<double>(n, n, engine);
      for (int64_t i = 0; i < n; ++i) a(i, zero) = 0;
      EXPECT_EQ(lu_factor(a).info, zero + 1) << n;
    }
  }
}

template <typename T>
void check_nan() {
  const auto nan = std::numeric_limits<real_t<T>>::quiet_NaN();
  for (const int64_t n : {1, 3, 7, 8, 9, 16, 17, 33, 65, 100}) {
    std::mt19937 engine(static_cast<uint32_t>(n));
    for (const bool all : {false, true}) {
      Matrix<T> a = drawn_matrix<T>(n, n, engine);
      a(n / 2, n / 3) = nan;
      if (all) a.fill(nan);
      const Lu<T> lu = lu_factor(a);
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_GT(lu.pivots[static_cast<size_t>(i)], i) << n;
        ASSERT_LE(lu.pivots[static_cast<size_t>(i)], n) << n;
      }
      EXPECT_FALSE(lu.factors.is_finite()) << n;
    }
  }
}

TEST(LuFactor, SwapsRowsOfTheMatrixAloneWhereThereIsNaN) {
  check_nan<float>();
  check_nan<double>();
  check_nan<complex64>();
  check_nan<complex128>();
}

TEST(LuFactor, SolvesForWhatWasMultiplied) {
  std::mt19937 engine(2);
  for (const int64_t n : {1, 5, 40, 100}) {
    const Matrix<double> a = well_conditioned<double>(n, engine);
    const Matrix<double> x = drawn_matrix<double>(n, 20, engine);
    expect_near(lu_solve(lu_factor(a), product(a, x)), x, std::to_string(n));
  }
}

}  // namespace
}  // namespace phi::linalg
