// Products of all forms, types and instruction sets against a double-precision triple loop.
#include "phi/kernels/cpu/matmul/gemm.h"

#include <omp.h>

#include "phi/kernels/cpu/matmul/bf16_tiles.h"
#include "tests/phi/kernels/dense_oracle.h"

namespace phi::testing {
namespace {

/// Stored matrices with room after each row, and the sums in double.
struct Problem {
  GemmShape shape;
  int64_t lda, ldb, ldc;
  Values a, b, c;
  mutable Values sums;  // once they are asked for

  explicit Problem(const GemmShape& s, int64_t gap = 0)
      : shape(s),
        lda((s.trans_a ? s.m : s.k) + gap),
        ldb((s.trans_b ? s.k : s.n) + gap),
        ldc(s.n + gap),
        a(random_values((s.trans_a ? s.k : s.m) * lda, 1)),
        b(random_values((s.trans_b ? s.n : s.k) * ldb, 2)),
        c(random_values(s.m * ldc, 3)) {}

  double sum(int64_t i, int64_t j, int64_t row = 0, int64_t column = 0) const {
    double total = 0;
    for (int64_t p = 0; p < shape.k; ++p) {
      const int64_t step = p + row, at = j + column;
      total += a[shape.trans_a ? p * lda + i : i * lda + p] *
               b[shape.trans_b ? at * ldb + step : step * ldb + at];
    }
    return total;
  }
  /// c after the product; what lies between its rows stays. The sums serve all types.
  Values expected(double alpha, double beta) const {
    if (sums.empty()) {
      for (int64_t i = 0; i < shape.m; ++i) {
        for (int64_t j = 0; j < shape.n; ++j) sums.push_back(sum(i, j));
      }
    }
    Values out = c;
    for (int64_t i = 0; i < shape.m; ++i) {
      for (int64_t j = 0; j < shape.n; ++j)
        out[i * ldc + j] = alpha * sums[i * shape.n + j] + beta * c[i * ldc + j];
    }
    return out;
  }
  std::string name() const {
    return fmt::format("m={} n={} k={} {}{}", shape.m, shape.n, shape.k, shape.trans_a ? "T" : "N",
                       shape.trans_b ? "T" : "N");
  }
};

/// Rounding of the result and of a float sum of k terms up to 1.
template <typename T, typename Out>
double limit(int64_t k) {
  if constexpr (std::is_same_v<T, double>) return 1e-12;
  return (kIs16Bit<Out> ? tolerance<Out>() : 0) + 1e-6 * std::sqrt(static_cast<double>(k));
}

template <typename T, typename Out>
void expect_product(const Problem& p, double alpha, double beta, GemmIsa isa) {
  using C = accumulator_t<T>;
  const DenseTensor a = tensor<T>(p.a, {static_cast<int64_t>(p.a.size())});
  const DenseTensor b = tensor<T>(p.b, {static_cast<int64_t>(p.b.size())});
  DenseTensor c = tensor<Out>(p.c, {static_cast<int64_t>(p.c.size())});
  gemm<T>(p.shape, static_cast<C>(alpha), a.data<T>(), p.lda, b.data<T>(), p.ldb,
          static_cast<C>(beta), c.mutable_data<Out>(), p.ldc, isa);
  expect_close(to_doubles(c), p.expected(alpha, beta), limit<T, Out>(p.shape.k),
               p.name() + " isa " + std::to_string(static_cast<int>(isa)));
}

/// The instruction sets of this machine: every fallback and the best.
std::vector<GemmIsa> isas() {
  std::vector<GemmIsa> all;
  for (int i = 0; i <= static_cast<int>(bf16_tiles::best_isa()); ++i)
    all.push_back(static_cast<GemmIsa>(i));
  return all;
}

template <typename T, typename Out>
void expect_products(const Problem& p, double alpha = 1, double beta = 0) {
  for (const GemmIsa isa : isas()) {
    if (isa == GemmIsa::kWiden || std::is_same_v<T, bfloat16>)
      expect_product<T, Out>(p, alpha, beta, isa);
  }
}

template <typename F>
void for_each_form(F&& body) {
  for (const bool trans_a : {false, true}) {
    for (const bool trans_b : {false, true}) body(trans_a, trans_b);
  }
}

TEST(Gemm, OddSizesEqualTheTripleLoopInAllForms) {
  constexpr int64_t kSizes[] = {1, 3, 17, 63, 64, 65, 127};
  for_each_form([&](bool trans_a, bool trans_b) {
    for (const int64_t m : kSizes) {
      for (const int64_t n : kSizes) {
        for (const int64_t k : kSizes)
          expect_products<bfloat16, bfloat16>(Problem({m, n, k, trans_a, trans_b}));
      }
    }
  });
}

TEST(Gemm, EveryTypeInEveryForm) {
  for_each_form([](bool trans_a, bool trans_b) {
    for (const GemmShape& s : {GemmShape{17, 19, 23},
                               {513, 33, 65},
                               {33, 513, 65},
                               {33, 65, 513},
                               {32, 800, 64},
                               {1, 1, 9001}}) {
      const Problem p({s.m, s.n, s.k, trans_a, trans_b});
      expect_products<bfloat16, bfloat16>(p);
      expect_products<bfloat16, float>(p);
      expect_products<float16, float16>(p);
      expect_products<float, float>(p);
      expect_products<double, double>(p);
    }
  });
}

TEST(Gemm, RowsMayBeFurtherApartThanTheyAreLong) {
  for_each_form([](bool trans_a, bool trans_b) {
    for (const int64_t gap : {1, 32, 448}) {  // 64 + 448: rows that fall on the same cache sets
      const Problem p({64, 96, 64, trans_a, trans_b}, gap);
      expect_products<bfloat16, bfloat16>(p);
      expect_products<bfloat16, float>(p);
      expect_products<float16, float16>(p);
      expect_products<float, float>(p);
      expect_products<double, double>(p);
    }
  });
}

TEST(Gemm, AlphaScalesTheProductAndBetaWhatWasThere) {
  for (const int64_t n : {3, 40, 64}) {
    const Problem p({35, n, 70}, 2);
    expect_products<bfloat16, bfloat16>(p, 0.5, 2);
    expect_products<bfloat16, float>(p, 0.5, 1);
    expect_products<float16, float16>(p, 0.5, 2);
    expect_products<float16, float>(p, 2, -1);
    expect_products<float, float>(p, 0.5, 2);
    expect_products<double, double>(p, 0.5, 2);
  }
}

TEST(Gemm, CIsNotReadWhenBetaIsZeroAndScaledWhenKIsZero) {
  for (const GemmIsa isa : isas()) {
    const std::vector<bfloat16> ones(40 * 40, bfloat16(1));
    std::vector<bfloat16> c(40 * 40, bfloat16(NAN));
    gemm<bfloat16>({40, 40, 40}, 1, ones.data(), 40, ones.data(), 40, 0, c.data(), 40, isa);
    EXPECT_EQ(static_cast<float>(c[1599]), 40);
    gemm<bfloat16>({40, 40, 0}, 1, ones.data(), 40, ones.data(), 40, 0.5f, c.data(), 40, isa);
    EXPECT_EQ(static_cast<float>(c[1599]), 20);
    gemm<bfloat16>({40, 40, 0}, 1, ones.data(), 40, ones.data(), 40, 0, c.data(), 40, isa);
    EXPECT_EQ(static_cast<float>(c[1599]), 0);
  }
  for (const int64_t n : {17, 40}) {
    const std::vector<float> ones(40 * 40, 1);
    std::vector<float> c(40 * 40, NAN);
    gemm<float>({40, n, 40}, 1, ones.data(), 40, ones.data(), 40, 0, c.data(), 40);
    EXPECT_EQ(c[39 * 40 + n - 1], 40);
  }
}

TEST(Gemm, ManyColumnsArePackedInSeveralBlocks) {
  expect_products<bfloat16, bfloat16>(Problem({20, 600, 4200, false, false}));
  expect_products<bfloat16, bfloat16>(Problem({20, 600, 4200, true, true}));
}

// Blocks of rows and vectors of columns, whole ones and what is left over.
TEST(Gemm, SmallMatricesOfAllSizes) {
  for_each_form([](bool trans_a, bool trans_b) {
    for (const int64_t n : {4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 64}) {
      for (int64_t m = 1; m <= 18; ++m) {
        const Problem p({m, n, 40, trans_a, trans_b}, m % 3);
        expect_products<float, float>(p, 0.5, 2);
        expect_products<double, double>(p, 0.5, 2);
      }
      const Problem p({40, n, 30, trans_a, trans_b});
      expect_products<float, float>(p);
      expect_products<double, double>(p);
    }
  });
}

// They are read once, not packed: as rows and as columns, with rows that are added alone at the
// end.
TEST(Gemm, FewRowsOrColumnsOfALargeMatrix) {
  for_each_form([](bool trans_a, bool trans_b) {
    for (const auto& [few, many, k] : {std::array<int64_t, 3>{1, 5, 7},
                                       {1, 2100, 63},
                                       {2, 2050, 66},
                                       {3, 700, 129},
                                       {4, 300, 257},
                                       {7, 1100, 64},
                                       {16, 520, 130}}) {
      for (const GemmShape& s :
           {GemmShape{few, many, k, trans_a, trans_b}, GemmShape{many, few, k, trans_a, trans_b}}) {
        const Problem p(s, 3);
        expect_products<bfloat16, bfloat16>(p);
        expect_products<bfloat16, float>(p, 0.5, 1);
        expect_products<float16, float16>(p, 0.5, -2);
        expect_products<float16, float>(p);
      }
    }
  });
}

TEST(Gemm, ThreadsShareRowsOrColumns) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(3);
  for (const bool transposed : {false, true}) {
    expect_products<bfloat16, bfloat16>(Problem({321, 95, 1700, transposed, transposed}));
    expect_products<bfloat16, float>(Problem({95, 321, 1700, transposed, !transposed}));
    expect_products<bfloat16, float>(Problem({1, 9000, 5000, false, transposed}));
    expect_products<bfloat16, float>(Problem({9000, 1, 5000, transposed, false}));
  }
  omp_set_num_threads(threads);
}

TEST(Gemm, InfinitiesAndNansSpreadAsInArithmetic) {
  for (const GemmIsa isa : isas()) {
    std::vector<bfloat16> a(33 * 33, bfloat16(1)), b(33 * 33, bfloat16(1));
    a[0] = bfloat16(INFINITY);
    a[33] = bfloat16(NAN);
    std::vector<float> c(33 * 33);
    gemm<bfloat16>({33, 33, 33}, 1, a.data(), 33, b.data(), 33, 0, c.data(), 33, isa);
    EXPECT_EQ(c[32], INFINITY);
    EXPECT_TRUE(std::isnan(c[33 + 32]));
    EXPECT_EQ(c[66 + 32], 33);
  }
}

template <typename T>
void expect_part(const Problem& p, int64_t rows, int64_t columns, const PackedPart& part,
                 GemmIsa isa) {
  const DenseTensor a = tensor<T>(p.a, {static_cast<int64_t>(p.a.size())});
  const DenseTensor b = tensor<T>(p.b, {static_cast<int64_t>(p.b.size())});
  PackedRight<T> packed(isa);
  packed.pack(3, 5, b.data<T>(), p.ldb, p.shape.trans_b);  // memory is used again
  packed.pack(rows, columns, b.data<T>(), p.ldb, p.shape.trans_b);
  using Out = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::vector<Out> c(p.shape.m * p.ldc, Out(5));
  gemm(p.shape, 2, a.data<T>(), p.lda, packed, part, 1, c.data(), p.ldc);
  for (int64_t i = 0; i < p.shape.m; ++i) {
    for (int64_t j = 0; j < p.shape.n; ++j)
      ASSERT_NEAR(c[i * p.ldc + j], 5 + 2 * p.sum(i, j, part.row, part.column), 1e-3) << p.name();
  }
}

TEST(PackedRight, PartsOfOnePackedMatrixServeManyProducts) {
  constexpr int64_t kRows = 131, kColumns = 150;
  for_each_form([](bool trans_a, bool trans_b) {
    Problem p({35, kColumns, kRows, trans_a, trans_b});  // b is whole
    for (const PackedPart part : {PackedPart{0, 0}, {64, 0}, {0, 96}, {96, 128}}) {
      for (const GemmShape& s : {GemmShape{35, kColumns - part.column, kRows - part.row},
                                 GemmShape{33, 17, 32}, GemmShape{2, 1, 29}}) {
        p.shape = {s.m, s.n, s.k, trans_a, trans_b};
        for (const GemmIsa isa : isas()) expect_part<bfloat16>(p, kRows, kColumns, part, isa);
        expect_part<float16>(p, kRows, kColumns, part, GemmIsa::kWiden);
        expect_part<float>(p, kRows, kColumns, part, GemmIsa::kWiden);
        expect_part<double>(p, kRows, kColumns, part, GemmIsa::kWiden);
      }
    }
  });
}

}  // namespace
}  // namespace phi::testing
