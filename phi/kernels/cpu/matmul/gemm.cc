// GEMM: selects direct loops for tiny shapes and integers, registers for small shapes, otherwise
// oneDNN (float) or OpenBLAS (double, complex), and dispatches to half-precision implementations
// and packed operands.
#include "phi/kernels/cpu/matmul/gemm.h"

#include <cblas.h>
#include <dnnl.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "phi/common/errors.h"
#include "phi/common/memory_advice.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/matmul/bf16_tiles.h"
#include "phi/kernels/cpu/matmul/gemm_half.h"
#include "phi/kernels/cpu/matmul/openblas_buffer.h"
#include "phi/kernels/cpu/matmul/small_gemm.h"
#include "phi/kernels/threads.h"

namespace phi {
namespace {

// Below this many multiply-adds, the call of a library costs more than the matmul.
constexpr int64_t kDirectLimit = 1024;
// Below this, a call of OpenBLAS costs less than one of oneDNN.
constexpr int64_t kSmallLimit = 8192;
constexpr int kGemmLanes = 8;

template <typename C, typename Out>
void scale_output_rows(const GemmShape& s, C beta, Out* c, int64_t ldc) {
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      Out& element = c[i * ldc + j];
      element = beta == C(0) ? Out(0) : Out(beta * static_cast<C>(element));
    }
  }
}

// Eight partial sums let the compiler use vector registers without reordering within one sum.
template <typename T>
T dot_product(const T* a, const T* b, int64_t n) {
  T sum = 0;
  int64_t i = 0;
  if (n >= kGemmLanes) {
    std::array<T, kGemmLanes> sums{};
    for (; i + kGemmLanes <= n; i += kGemmLanes) {
      for (int lane = 0; lane < kGemmLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    }
    for (int lane = 0; lane < kGemmLanes; ++lane) sum += sums[lane];
  }
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

template <typename T>
void put(T* out, T product, T beta) {
  *out = beta == T(0) ? product : beta * *out + product;
}

template <typename T>
void direct_gemm(const GemmShape& s, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
                 T beta, T* c, int64_t ldc) {
  const bool a_rows_contiguous = !s.trans_a || lda == 1;
  const bool b_columns_contiguous = s.trans_b || ldb == 1;
  if (a_rows_contiguous && b_columns_contiguous && s.n < 4) {
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        const T* column = s.trans_b ? b + j * ldb : b + j;
        const T* row = s.trans_a ? a + i : a + i * lda;
        put(c + i * ldc + j, alpha * dot_product(row, column, s.k), beta);
      }
    }
    return;
  }
  std::array<T, kDirectLimit> packed;  // op(b) by rows; n * k is at most the limit
  if (s.trans_b) {
    for (int64_t j = 0; j < s.n; ++j) {
      for (int64_t p = 0; p < s.k; ++p) packed[p * s.n + j] = b[j * ldb + p];
    }
    b = packed.data();
    ldb = s.n;
  }
  const int64_t a_row = s.trans_a ? 1 : lda;
  const int64_t a_column = s.trans_a ? lda : 1;
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; j += kGemmLanes) {
      std::array<T, kGemmLanes> sums{};
      const int64_t width = std::min<int64_t>(kGemmLanes, s.n - j);
      const T* row = a + i * a_row;
      if (width == kGemmLanes) {  // a constant trip count keeps the sums in registers
        for (int64_t p = 0; p < s.k; ++p) {
          for (int l = 0; l < kGemmLanes; ++l) sums[l] += row[p * a_column] * b[p * ldb + j + l];
        }
      } else {
        for (int64_t p = 0; p < s.k; ++p) {
          for (int64_t l = 0; l < width; ++l) sums[l] += row[p * a_column] * b[p * ldb + j + l];
        }
      }
      for (int64_t l = 0; l < width; ++l) put(c + i * ldc + j + l, alpha * sums[l], beta);
    }
  }
}

// Integer matmuls; sums wrap around.
template <typename T>
void integer_gemm(const GemmShape& s, int64_t alpha, const T* a, int64_t lda, const T* b,
                  int64_t ldb, int64_t beta, T* c, int64_t ldc) {
  using Word = std::make_unsigned_t<T>;
  scale_output_rows(s, beta, c, ldc);
  const int64_t b_row = s.trans_b ? 1 : ldb, b_column = s.trans_b ? ldb : 1;
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t p = 0; p < s.k; ++p) {
      const T element = s.trans_a ? a[p * lda + i] : a[i * lda + p];
      const Word factor = static_cast<Word>(alpha) * static_cast<Word>(element);
      const T* row = b + p * b_row;
      T* to = c + i * ldc;
      for (int64_t j = 0; j < s.n; ++j) {
        to[j] = static_cast<T>(static_cast<Word>(to[j]) +
                               factor * static_cast<Word>(row[j * b_column]));
      }
    }
  }
}

void blas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha,
               const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void blas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha,
               const double* a, int lda, const double* b, int ldb, double beta, double* c,
               int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void blas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, complex64 alpha,
               const complex64* a, int lda, const complex64* b, int ldb, complex64 beta,
               complex64* c, int ldc) {
  cblas_cgemm(CblasRowMajor, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}
void blas_gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, complex128 alpha,
               const complex128* a, int lda, const complex128* b, int ldb, complex128 beta,
               complex128* c, int ldc) {
  cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
}

template <typename T>
void openblas_gemm(const GemmShape& s, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
                   T beta, T* c, int64_t ldc) {
  const auto fits = [](int64_t value) { return value <= INT32_MAX; };
  PHI_CHECK(fits(s.m) && fits(s.n) && fits(s.k) && fits(lda) && fits(ldb) && fits(ldc),
            errors::Unimplemented("A matmul of m={}, n={}, k={} with row strides of {}, {} and {} "
                                  "elements exceeds OpenBLAS's 32-bit extents.",
                                  s.m, s.n, s.k, lda, ldb, ldc));
  const auto i32 = [](int64_t value) { return static_cast<int>(value); };
  const OpenblasCall call;
  blas_gemm(s.trans_a ? CblasTrans : CblasNoTrans, s.trans_b ? CblasTrans : CblasNoTrans, i32(s.m),
            i32(s.n), i32(s.k), alpha, a, i32(lda), b, i32(ldb), beta, c, i32(ldc));
}

// oneDNN generates code at the first matmul of each kind and ends the process if it finds no memory
// for it. Therefore the memory is requested beforehand, to throw ResourceExhausted instead. Returns
// true.
bool find_room_for_code() {
  constexpr size_t kBytes = size_t{16} << 20;
  void* const room = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  PHI_CHECK(room != MAP_FAILED,
            errors::ResourceExhausted("cannot allocate {} bytes for the code of matmuls. {}",
                                      kBytes, kMoreMemoryAdvice));
  munmap(room, kBytes);
  return true;
}

template <bool kTransA, bool kTransB>
void check_room_for_code() {
  [[maybe_unused]] static const bool found = find_room_for_code();
}

void check_room_for_code_of(const GemmShape& s) {
  if (s.trans_a) {
    s.trans_b ? check_room_for_code<true, true>() : check_room_for_code<true, false>();
  } else {
    s.trans_b ? check_room_for_code<false, true>() : check_room_for_code<false, false>();
  }
}

void onednn_gemm(const GemmShape& s, float alpha, const float* a, int64_t lda, const float* b,
                 int64_t ldb, float beta, float* c, int64_t ldc) {
  check_room_for_code_of(s);
  use_one_thread_in_forked_children();
  const dnnl_status_t status = dnnl_sgemm(s.trans_a ? 'T' : 'N', s.trans_b ? 'T' : 'N', s.m, s.n,
                                          s.k, alpha, a, lda, b, ldb, beta, c, ldc);
  PHI_CHECK(status != dnnl_out_of_memory,
            errors::ResourceExhausted("a matmul of m={}, n={}, k={} (operands and result: {} "
                                      "bytes) cannot allocate its workspace. {}",
                                      s.m, s.n, s.k, 4 * (s.m * s.k + s.k * s.n + s.m * s.n),
                                      kMoreMemoryAdvice));
  PHI_CHECK(status == dnnl_success,
            errors::Internal("dnnl_sgemm of m={}, n={}, k={} failed with status {}.", s.m, s.n, s.k,
                             static_cast<int>(status)));
}

// Long sums with a transposed left operand (gradients of weights) run in parts, which is faster
// than one pass.
constexpr int64_t kLongSum = 1024;
constexpr int64_t kSumPart = 512;

void float_gemm(const GemmShape& s, float alpha, const float* a, int64_t lda, const float* b,
                int64_t ldb, float beta, float* c, int64_t ldc) {
  if (!s.trans_a || s.trans_b || s.k <= kLongSum) {
    return onednn_gemm(s, alpha, a, lda, b, ldb, beta, c, ldc);
  }
  GemmShape part = s;
  for (int64_t at = 0; at < s.k; at += part.k) {
    part.k = std::min(kSumPart, s.k - at);
    onednn_gemm(part, alpha, a + at * lda, lda, b + at * ldb, ldb, at == 0 ? beta : 1.0f, c, ldc);
  }
}

}  // namespace

template <typename T, typename Out>
void gemm(const GemmShape& shape, accumulator_t<T> alpha, const T* a, int64_t lda, const T* b,
          int64_t ldb, accumulator_t<T> beta, Out* c, int64_t ldc, [[maybe_unused]] GemmIsa isa) {
  if (shape.m == 0 || shape.n == 0) return;
  if (shape.k == 0) return scale_output_rows(shape, beta, c, ldc);
  if constexpr (kIs16Bit<T>) {
    detail::gemm_half(shape, alpha, a, lda, b, ldb, beta, c, ldc, isa);
  } else if constexpr (std::is_integral_v<T>) {
    integer_gemm(shape, alpha, a, lda, b, ldb, beta, c, ldc);
  } else {
    const int64_t work = shape.m * shape.n * shape.k;
    if (work <= kDirectLimit) return direct_gemm(shape, alpha, a, lda, b, ldb, beta, c, ldc);
    if constexpr (std::is_floating_point_v<T>) {
      if (detail::is_small_gemm<T>(shape)) {
        return detail::small_gemm<T>(shape, alpha, a, lda, b, ldb, beta, c, ldc);
      }
    }
    if constexpr (std::is_same_v<T, float>) {
      if (work > kSmallLimit) return float_gemm(shape, alpha, a, lda, b, ldb, beta, c, ldc);
    }
    openblas_gemm(shape, alpha, a, lda, b, ldb, beta, c, ldc);
  }
}

template <typename T>
size_t PackedRight<T>::packed_bytes(int64_t k, int64_t n, GemmIsa isa) {
  if constexpr (!kIs16Bit<T>) return 0;
  return has_tiles<T>(isa) ? static_cast<size_t>(bf16_tiles::packed_size(n, k)) * sizeof(bfloat16)
                           : static_cast<size_t>(n * k) * sizeof(float);
}

template <typename T>
void PackedRight<T>::pack(int64_t k, int64_t n, const T* b, int64_t ldb, bool trans_b) {
  trans_ = trans_b;
  if constexpr (!kIs16Bit<T>) {
    data_ = b;
    ld_ = ldb;
    return;
  }
  std::byte* const packed_data = room(k, n);
  if constexpr (std::is_same_v<T, bfloat16>) {
    if (isa_ != GemmIsa::kWiden) {
      auto* packed = reinterpret_cast<bfloat16*>(packed_data);
      bf16_tiles::pack_right({b, ldb, trans_b}, n, k, packed);
      data_ = packed;
      ld_ = bf16_tiles::panel_stride(k);
      return;
    }
  }
  const int64_t rows = trans_b ? n : k, columns = trans_b ? k : n;
  auto* wide = reinterpret_cast<float*>(packed_data);
  for (int64_t r = 0; r < rows; ++r) convert(b + r * ldb, wide + r * columns, columns);
  data_ = wide;
  ld_ = columns;
}

template <typename T, typename Out>
void gemm(const GemmShape& shape, accumulator_t<T> alpha, const T* a, int64_t lda,
          const PackedRight<T>& b, const PackedPart& part, accumulator_t<T> beta, Out* c,
          int64_t ldc) {
  using C = accumulator_t<T>;
  const auto view = b.view();
  if (shape.m == 0 || shape.n == 0) return;
  if (shape.k == 0) return scale_output_rows(shape, beta, c, ldc);
  if constexpr (std::is_same_v<T, bfloat16>) {
    if (view.isa != GemmIsa::kWiden) {
      const auto* packed = static_cast<const bfloat16*>(view.data) +
                           part.column / bf16_tiles::kVectors * view.ld +
                           part.row * bf16_tiles::kVectors;
      return detail::gemm_tiles(view.isa, shape, alpha, a, lda, packed, view.ld, beta, c, ldc);
    }
  }
  GemmShape stored = shape;
  stored.trans_b = view.trans;
  const C* right =
      static_cast<const C*>(view.data) +
      (view.trans ? part.column * view.ld + part.row : part.row * view.ld + part.column);
  if constexpr (kIs16Bit<T>) {
    detail::gemm_widened(stored, alpha, a, lda, right, view.ld, beta, c, ldc);
  } else {
    gemm(stored, alpha, a, lda, right, view.ld, beta, c, ldc);
  }
}

#define PHI_INSTANTIATE_GEMM(T, Out)                                                               \
  template void gemm(const GemmShape&, accumulator_t<T>, const T*, int64_t, const T*, int64_t,     \
                     accumulator_t<T>, Out*, int64_t, GemmIsa);                                    \
  template void gemm(const GemmShape&, accumulator_t<T>, const T*, int64_t, const PackedRight<T>&, \
                     const PackedPart&, accumulator_t<T>, Out*, int64_t)
PHI_INSTANTIATE_GEMM(float, float);
PHI_INSTANTIATE_GEMM(double, double);
PHI_INSTANTIATE_GEMM(bfloat16, bfloat16);
PHI_INSTANTIATE_GEMM(bfloat16, float);
PHI_INSTANTIATE_GEMM(float16, float16);
PHI_INSTANTIATE_GEMM(float16, float);
PHI_INSTANTIATE_GEMM(complex64, complex64);
PHI_INSTANTIATE_GEMM(complex128, complex128);
template void gemm(const GemmShape&, int64_t, const int32_t*, int64_t, const int32_t*, int64_t,
                   int64_t, int32_t*, int64_t, GemmIsa);
template void gemm(const GemmShape&, int64_t, const int64_t*, int64_t, const int64_t*, int64_t,
                   int64_t, int64_t*, int64_t, GemmIsa);
#undef PHI_INSTANTIATE_GEMM
template class PackedRight<float>;
template class PackedRight<double>;
template class PackedRight<bfloat16>;
template class PackedRight<float16>;
template class PackedRight<complex64>;
template class PackedRight<complex128>;

}  // namespace phi
