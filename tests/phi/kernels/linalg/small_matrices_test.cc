// Small matrices, one in each lane, against the factorisation of one matrix (lu_test.cc has it
// against products), of every number of rows and of counts that do not fill the lanes.
#include "phi/kernels/cpu/linalg/small_matrices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "phi/kernels/cpu/linalg/lapack.h"

namespace phi::linalg {
namespace {

constexpr int64_t kMostRows = 16;
constexpr int64_t kCounts[] = {1, 2, 7, 16, 33};

template <typename T>
struct Batch {
  Batch(int64_t rows, int64_t matrices) : n(rows), count(matrices), a(drawn(n * n)) {
    for (int64_t i = 0; i < count * n; ++i) a[static_cast<size_t>(i * n + i % n)] += T(3);
  }
  std::vector<T> drawn(int64_t each) {
    std::uniform_real_distribution<T> draw(-1, 1);
    std::vector<T> x(static_cast<size_t>(count * each));
    std::generate(x.begin(), x.end(), [&] { return draw(engine); });
    return x;
  }
  SmallMatrices<T> matrices() const { return {a.data(), n, count}; }
  Matrix<T> matrix(int64_t b) const { return Matrix<T>::from(a.data() + b * n * n, n, n); }

  std::mt19937 engine{5};
  int64_t n, count;
  std::vector<T> a;
};

template <typename T>
constexpr double kTolerance = sizeof(T) == 4 ? 1e-5 : 1e-13;

template <typename T>
T determinant(const Matrix<T>& a) {
  const Lu<T> lu = lu_factor(a);
  T det = 1;
  for (int64_t i = 0; i < a.rows(); ++i) {
    det *= lu.factors(i, i) * T(lu.pivots[static_cast<size_t>(i)] == i + 1 ? 1 : -1);
  }
  return det;
}

template <typename T>
void check_batches() {
  for (int64_t n = 0; n <= kMostRows; ++n) {
    for (const int64_t count : kCounts) {
      Batch<T> batch(n, count);
      const int64_t columns = n % 3 + 1;
      const std::vector<T> b = batch.drawn(n * columns);
      std::vector<T> x(b.size()), inverse(batch.a.size()), diagonals(count * n);
      EXPECT_EQ(small_solve(batch.matrices(), {b.data(), columns, n * columns}, x.data()), -1);
      EXPECT_EQ(small_inverse(batch.matrices(), inverse.data()), -1);
      EXPECT_TRUE(small_diagonals(batch.matrices(), diagonals.data()));
      for (int64_t i = 0; i < count; ++i) {
        const Matrix<T> a = batch.matrix(i);
        const auto expect_solution = [&](const T* got, const Matrix<T>& side) {
          const Matrix<T> of_one = lu_solve(lu_factor(a), side);
          for (int64_t r = 0; r < n; ++r) {
            for (int64_t c = 0; c < side.columns(); ++c) {
              ASSERT_NEAR(got[r * side.columns() + c], of_one(r, c), kTolerance<T>)
                  << n << " rows, matrix " << i;
            }
          }
        };
        expect_solution(x.data() + i * n * columns,
                        Matrix<T>::from(b.data() + i * n * columns, n, columns));
        expect_solution(inverse.data() + i * n * n, Matrix<T>::identity(n));
        T product = 1;
        for (int64_t k = 0; k < n; ++k) product *= diagonals[static_cast<size_t>(i * n + k)];
        const T expected = determinant(a);
        ASSERT_NEAR(product / expected, 1, 10 * kTolerance<T>) << n << " rows, matrix " << i;
      }
    }
  }
}
TEST(SmallMatrices, OfFloat32AreSolvedAsOneIs) { check_batches<float>(); }
TEST(SmallMatrices, OfFloat64AreSolvedAsOneIs) { check_batches<double>(); }

TEST(SmallMatrices, AreTheSameWhateverIsBesideThem) {
  const Batch<float> batch(5, 33);
  std::vector<float> together(batch.a.size()), alone(batch.a.size());
  small_inverse(batch.matrices(), together.data());
  for (int64_t i = 0; i < batch.count; ++i) {
    small_inverse<float>({batch.a.data() + i * 25, 5, 1}, alone.data() + i * 25);
  }
  EXPECT_EQ(together, alone);
}

TEST(SmallMatrices, MayShareARightHandSide) {
  Batch<double> batch(4, 19);
  const std::vector<double> b(batch.a.begin(), batch.a.begin() + 8);
  std::vector<double> many, shared(19 * 8), own(19 * 8);
  for (int i = 0; i < 19; ++i) many.insert(many.end(), b.begin(), b.end());
  small_solve(batch.matrices(), {b.data(), 2, 0}, shared.data());
  small_solve(batch.matrices(), {many.data(), 2, 8}, own.data());
  EXPECT_EQ(shared, own);
}

TEST(SmallMatrices, OfEachPermutationTheDeterminantIsItsSign) {
  std::vector<int> order(4);
  std::iota(order.begin(), order.end(), 0);
  do {
    std::vector<double> a(16), diagonals(4);
    int swaps = 0;
    for (size_t i = 0; i < 4; ++i) {
      a[4 * i + static_cast<size_t>(order[i])] = 1;
      for (size_t j = 0; j < i; ++j) swaps += order[j] > order[i];
    }
    small_diagonals<double>({a.data(), 4, 1}, diagonals.data());
    EXPECT_EQ(diagonals[0] * diagonals[1] * diagonals[2] * diagonals[3], swaps % 2 == 0 ? 1 : -1);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(SmallMatrices, TheFirstSingularOneIsTold) {
  for (int64_t n = 1; n <= kMostRows; ++n) {
    Batch<double> batch(n, 33);
    for (const int64_t b : {20, 31}) {  // a column of zeros
      for (int64_t i = 0; i < n; ++i) {
        batch.a[static_cast<size_t>((b * n + i) * n + n / 2)] = 0;
      }
    }
    std::vector<double> x(batch.a.size()), diagonals(static_cast<size_t>(33 * n));
    EXPECT_EQ(small_inverse(batch.matrices(), x.data()), 20) << n;
    small_diagonals(batch.matrices(), diagonals.data());
    for (const int64_t b : {19, 20, 31}) {
      const auto begin = diagonals.begin() + b * n;
      EXPECT_EQ(std::count(begin, begin + n, 0.0), b == 19 ? 0 : 1) << n;
    }
  }
}

TEST(SmallMatrices, NaNStaysInItsMatrix) {
  Batch<float> batch(3, 20);
  const Batch<float> whole = batch;
  batch.a[9 * 4 + 5] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(batch.a.size()), expected(batch.a.size());
  EXPECT_EQ(small_inverse(batch.matrices(), x.data()), -1);
  small_inverse(whole.matrices(), expected.data());
  for (size_t i = 0; i < x.size(); ++i) {
    if (i / 9 == 4) continue;
    EXPECT_EQ(x[i], expected[i]) << i;
  }
  EXPECT_TRUE(std::any_of(x.begin() + 36, x.begin() + 45, [](float v) { return v != v; }));
}

TEST(SmallMatrices, LargeAndComplexOnesAreNot) {
  const Batch<float> batch(kMostRows + 1, 1);
  std::vector<float> x(batch.a.size());
  EXPECT_FALSE(small_inverse(batch.matrices(), x.data()));
  EXPECT_FALSE(small_diagonals(batch.matrices(), x.data()));
  const complex64 one(1);
  complex64 y;
  EXPECT_FALSE(small_solve<complex64>({&one, 1, 1}, {&one, 1, 1}, &y));
}

}  // namespace
}  // namespace phi::linalg
