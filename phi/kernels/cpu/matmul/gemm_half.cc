// Half-precision matmuls: on bfloat16 instructions in blocks of columns, or widened to float.
#include "phi/kernels/cpu/matmul/gemm_half.h"

#include <algorithm>
#include <string_view>

#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/isa_from_env.h"
#include "phi/kernels/cpu/matmul/bf16_tiles.h"
#include "phi/kernels/cpu/matmul/gemm_scratch.h"
#include "phi/kernels/cpu/matmul/skinny_gemm.h"
#include "phi/kernels/threads.h"

namespace phi {
GemmIsa gemm_isa() {
  constexpr std::string_view kWords[] = {"widen", "avx512_bf16", "amx"};
  static const GemmIsa isa = isa_from_env("AUTOPHI_GEMM_ISA", kWords, bf16_tiles::best_isa());
  return isa;
}

namespace detail {
namespace {

/// gemm_half on the calling thread.
template <typename Out>
void multiply_columns(GemmIsa isa, const GemmShape& s, float alpha, const bfloat16* a, int64_t lda,
                      const bfloat16* b, int64_t ldb, float beta, Out* c, int64_t ldc) {
  const int64_t step = packed_columns(s);
  auto* packed = gemm_workspaces().right.room<bfloat16>(right_size(s));
  const bf16_tiles::StridedVectors columns{b, ldb, s.trans_b};
  for (int64_t begin = 0; begin < s.n; begin += step) {
    GemmShape part = s;
    part.n = std::min(step, s.n - begin);
    bf16_tiles::pack_right({columns.at(begin, 0), ldb, s.trans_b}, part.n, s.k, packed);
    gemm_tiles(isa, part, alpha, a, lda, packed, bf16_tiles::panel_stride(s.k), beta, c + begin,
               ldc);
  }
}

/// Splits the longer side of c over the threads that this process may use, and calls multiply(part,
/// a, b, c) for each part.
template <typename T, typename Out, typename Multiply>
void in_parallel(const GemmShape& s, const T* a, int64_t lda, const T* b, int64_t ldb, Out* c,
                 int64_t ldc, Multiply multiply) {
  const ThreadParts parts(s);
  if (parts.threads == 1) return multiply(s, a, b, c);
  use_one_thread_in_forked_children();
#pragma omp parallel for num_threads(static_cast <int>(parts.threads)) schedule(static, 1)
  for (int64_t begin = 0; begin < parts.extent; begin += parts.step) {
    const T* rows = parts.by_rows ? a + begin * (s.trans_a ? 1 : lda) : a;
    const T* columns = parts.by_rows ? b : b + begin * (s.trans_b ? ldb : 1);
    multiply(parts.at(begin), rows, columns, c + begin * (parts.by_rows ? ldc : 1));
  }
}

/// Sets c = product + beta * c, rounded once.
template <typename Out>
void round_rows(const float* product, int64_t rows, int64_t n, float beta, Out* c, int64_t ldc) {
  for (int64_t r = 0; r < rows; ++r) {
    Out* row = c + r * ldc;
    if (beta == 0.0f) {
      convert(product + r * n, row, n);
    } else {
      for (int64_t j = 0; j < n; ++j)
        row[j] = Out(product[r * n + j] + beta * static_cast<float>(row[j]));
    }
  }
}

template <typename T>
void widen_rows(const T* from, int64_t ld, int64_t rows, int64_t n, float* out) {
  for (int64_t r = 0; r < rows; ++r) convert(from + r * ld, out + r * n, n);
}

}  // namespace

template <typename Out>
void gemm_tiles(GemmIsa isa, const GemmShape& s, float alpha, const bfloat16* a, int64_t lda,
                const bfloat16* packed, int64_t stride, float beta, Out* c, int64_t ldc) {
  const bf16_tiles::Bf16Gemm<Out> product{s.m,    s.n,    s.k,  alpha, {a, lda, !s.trans_a},
                                          packed, stride, beta, c,     ldc};
  bf16_tiles::multiply(isa, product,
                       gemm_workspaces().left.room<bfloat16>(bf16_tiles::left_size(s.k)));
}

template <typename T, typename Out>
void gemm_widened(const GemmShape& s, float alpha, const T* a, int64_t lda, const float* b,
                  int64_t ldb, float beta, Out* c, int64_t ldc) {
  float* const left = gemm_workspaces().wide_a.room<float>(wide_a_size(s));
  [[maybe_unused]] float* const out = gemm_workspaces().wide_c.room<float>(wide_c_size<Out>(s));
  GemmShape panel = s;
  for (int64_t begin = 0; begin < s.m; begin += kPanelRows) {
    panel.m = std::min(kPanelRows, s.m - begin);
    const int64_t rows = s.trans_a ? s.k : panel.m, columns = s.trans_a ? panel.m : s.k;
    widen_rows(a + begin * (s.trans_a ? 1 : lda), lda, rows, columns, left);
    if constexpr (std::is_same_v<Out, float>) {
      gemm<float>(panel, alpha, left, columns, b, ldb, beta, c + begin * ldc, ldc);
    } else {
      gemm<float>(panel, alpha, left, columns, b, ldb, 0.0f, out, s.n);
      round_rows(out, panel.m, s.n, beta, c + begin * ldc, ldc);
    }
  }
}

template <typename T, typename Out>
void gemm_half(const GemmShape& s, float alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
               float beta, Out* c, int64_t ldc, GemmIsa isa) {
  switch (half_method<T>(s, isa)) {
    case HalfMethod::kSkinny:
      return in_parallel(s, a, lda, b, ldb, c, ldc,
                         [=](const GemmShape& part, const T* rows, const T* columns, Out* to) {
                           skinny_gemm(part, alpha, rows, lda, columns, ldb, beta, to, ldc);
                         });
    case HalfMethod::kTiles:
      if constexpr (std::is_same_v<T, bfloat16>) {
        in_parallel(s, a, lda, b, ldb, c, ldc,
                    [=](const GemmShape& part, const T* rows, const T* columns, Out* to) {
                      multiply_columns(isa, part, alpha, rows, lda, columns, ldb, beta, to, ldc);
                    });
      }
      return;
    case HalfMethod::kWidened:
      const int64_t rows = s.trans_b ? s.n : s.k, columns = s.trans_b ? s.k : s.n;
      float* const right = gemm_workspaces().wide_b.room<float>(wide_b_size(s));
      widen_rows(b, ldb, rows, columns, right);
      gemm_widened(s, alpha, a, lda, right, columns, beta, c, ldc);
  }
}

#define PHI_INSTANTIATE_16BIT(T, Out)                                                           \
  template void gemm_half(const GemmShape&, float, const T*, int64_t, const T*, int64_t, float, \
                          Out*, int64_t, GemmIsa);                                              \
  template void gemm_widened(const GemmShape&, float, const T*, int64_t, const float*, int64_t, \
                             float, Out*, int64_t)
PHI_INSTANTIATE_16BIT(bfloat16, bfloat16);
PHI_INSTANTIATE_16BIT(bfloat16, float);
PHI_INSTANTIATE_16BIT(float16, float16);
PHI_INSTANTIATE_16BIT(float16, float);
#undef PHI_INSTANTIATE_16BIT
template void gemm_tiles(GemmIsa, const GemmShape&, float, const bfloat16*, int64_t,
                         const bfloat16*, int64_t, float, bfloat16*, int64_t);
template void gemm_tiles(GemmIsa, const GemmShape&, float, const bfloat16*, int64_t,
                         const bfloat16*, int64_t, float, float*, int64_t);

}  // namespace detail

void reserve_steps(int64_t steps) {
  detail::gemm_workspaces().left.room<bfloat16>(bf16_tiles::left_size(steps));
}

}  // namespace phi
