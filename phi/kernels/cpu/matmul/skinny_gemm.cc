// Few rows times the lines of a matrix. If a line is a stored row, its dot products with the few
// rows are computed. If it is a column, several stored rows at a time are added to the sums of many
// columns.
#include "phi/kernels/cpu/matmul/skinny_gemm.h"

#include <algorithm>
#include <array>
#include <vector>

#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/matmul/weight_rows.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/cpu/workspace.h"

namespace phi::detail {
namespace {

// Most rows for a matrix whose lines are stored rows, most rows for other matrices, and fewest
// elements of the matrix for more than one row. Beyond these limits tiles are faster, although they
// pack the matrix.
constexpr int64_t kFewByLines = 16;
constexpr int64_t kFewByColumns = 4;
constexpr int64_t kLargeMatrix = int64_t{1} << 16;
constexpr int64_t kColumns = 2048;  // their sums fit into the L1 cache
constexpr int64_t kAdded = 4;       // stored rows that are added at once

template <typename T, typename Out>
struct SkinnyGemm {
  int64_t rows, extent, k;  // the few rows, lines of the matrix, elements of each
  const T* few;
  int64_t few_row, few_step;  // row and element strides of the few rows
  const T* matrix;
  int64_t ld;
  bool lines_are_rows;
  float alpha, beta;
  Out* c;
  int64_t c_row, c_step;

  void run() const {
    Workspace widened;
    float* const wide = widened.room<float>(rows * k);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t p = 0; p < k; ++p) {
        wide[r * k + p] = static_cast<float>(few[r * few_row + p * few_step]);
      }
    }
    for (int64_t r = 0; r < rows; r += kWeightRows) run_rows(wide + r * k, r);
  }

 private:
  using Readers = std::vector<RowReader<T, read_t<T>>>;

  void run_rows(const float* wide, int64_t r) const {
    switch (std::min<int64_t>(kWeightRows, rows - r)) {
      case 1:
        return lines_are_rows ? multiply<1>(wide, r) : add_up<1>(wide, r);
      case 2:
        return lines_are_rows ? multiply<2>(wide, r) : add_up<2>(wide, r);
      case 3:
        return lines_are_rows ? multiply<3>(wide, r) : add_up<3>(wide, r);
      default:
        return lines_are_rows ? multiply<4>(wide, r) : add_up<4>(wide, r);
    }
  }

  template <int kRows>
  void multiply(const float* wide, int64_t r) const {
    RowReader<T, read_t<T>> reader(matrix, k, ld);
    run_best_isa<float>([=, this, &reader] {
      for (int64_t j = 0; j < extent; ++j) {
        RowDotProducts<kRows, float> products;
        add_row_dot_products(k, wide, k, reader.row(j), 1.0f, &products);
        for (int i = 0; i < kRows; ++i) put(r + i, j, products.sum(i));
      }
    });
  }

  template <int kRows>
  void add_up(const float* wide, int64_t r) const {
    alignas(64) std::array<std::array<float, kColumns>, kRows> sums;
    for (int64_t begin = 0; begin < extent; begin += kColumns) {
      const int64_t count = std::min(kColumns, extent - begin);
      Readers readers;
      for (int64_t q = 0; q < kAdded; ++q) readers.emplace_back(matrix + begin, count, ld);
      run_best_isa<float>([=, this, &readers, &sums] {
        for (auto& row : sums) std::fill_n(row.data(), count, 0.0f);
        int64_t p = 0;
        for (; p + kAdded <= k; p += kAdded) {
          add<kRows, kAdded>(&readers, wide, p, count, &sums);
        }
        for (; p < k; ++p) add<kRows, 1>(&readers, wide, p, count, &sums);
      });
      for (int i = 0; i < kRows; ++i) {
        for (int64_t j = 0; j < count; ++j) put(r + i, begin + j, sums[i][j]);
      }
    }
  }

  /// Adds `count` columns of kCount stored rows from p on, multiplied by each of the few rows'
  /// elements.
  template <int kRows, int64_t kCount, typename Sums>
  void add(Readers* readers, const float* wide, int64_t p, int64_t count, Sums* sums) const {
    std::array<const read_t<T>*, kCount> rows_at;
    for (int64_t q = 0; q < kCount; ++q) {
      rows_at[q] = (*readers)[static_cast<size_t>(q)].row(p + q);
    }
    for (int i = 0; i < kRows; ++i) {
      float* const to = (*sums)[i].data();
      const float* const factors = wide + i * k + p;
#pragma GCC ivdep
      for (int64_t j = 0; j < count; ++j) {
        float sum = to[j];
        for (int64_t q = 0; q < kCount; ++q) sum += factors[q] * static_cast<float>(rows_at[q][j]);
        to[j] = sum;
      }
    }
  }

  void put(int64_t r, int64_t at, float product) const {
    Out& to = c[r * c_row + at * c_step];
    to = Out(beta == 0.0f ? alpha * product : alpha * product + beta * static_cast<float>(to));
  }
};

}  // namespace

bool is_skinny(const GemmShape& s) {
  const int64_t few = std::min(s.m, s.n);
  const bool lines_are_rows = s.m <= s.n ? s.trans_b : !s.trans_a;
  return few == 1 || (few <= (lines_are_rows ? kFewByLines : kFewByColumns) &&
                      std::max(s.m, s.n) * s.k >= kLargeMatrix);
}

template <typename T, typename Out>
void skinny_gemm(const GemmShape& s, float alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
                 float beta, Out* c, int64_t ldc) {
  if (s.m <= s.n) {
    SkinnyGemm<T, Out>{.rows = s.m,
                       .extent = s.n,
                       .k = s.k,
                       .few = a,
                       .few_row = s.trans_a ? 1 : lda,
                       .few_step = s.trans_a ? lda : 1,
                       .matrix = b,
                       .ld = ldb,
                       .lines_are_rows = s.trans_b,
                       .alpha = alpha,
                       .beta = beta,
                       .c = c,
                       .c_row = ldc,
                       .c_step = 1}
        .run();
  } else {
    SkinnyGemm<T, Out>{.rows = s.n,
                       .extent = s.m,
                       .k = s.k,
                       .few = b,
                       .few_row = s.trans_b ? ldb : 1,
                       .few_step = s.trans_b ? 1 : ldb,
                       .matrix = a,
                       .ld = lda,
                       .lines_are_rows = !s.trans_a,
                       .alpha = alpha,
                       .beta = beta,
                       .c = c,
                       .c_row = 1,
                       .c_step = ldc}
        .run();
  }
}

#define PHI_INSTANTIATE(T, Out)                                                                   \
  template void skinny_gemm(const GemmShape&, float, const T*, int64_t, const T*, int64_t, float, \
                            Out*, int64_t)
PHI_INSTANTIATE(bfloat16, bfloat16);
PHI_INSTANTIATE(bfloat16, float);
PHI_INSTANTIATE(float16, float16);
PHI_INSTANTIATE(float16, float);
#undef PHI_INSTANTIATE

}  // namespace phi::detail
