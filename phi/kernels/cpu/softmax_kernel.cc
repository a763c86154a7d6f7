// softmax on the CPU: rows for the last tensor dim, blocks of columns for any other.
#include "phi/kernels/softmax_kernel.h"

#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernel_signatures.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {
namespace {

template <typename T>
void softmax_rows(const T* x, int64_t rows, int64_t n, T* out) {
  using C = compute_t<T>;
  RowReader<T> reader(x, n);
  RowWriter<T> writer(out, n);
  for (int64_t r = 0; r < rows; ++r) {
    const C* row = reader.row(r);
    C* to = writer.row(r);
    const C factor = C(1) / row_exp_sum(row, n, row_max(row, n), to);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) to[i] *= factor;
    writer.done(r);
  }
}

constexpr int64_t kBlockColumns = 64;

/// Softmax down the columns [0, width) of an [n, stride] array; `block` holds n * kBlockColumns.
template <typename T, typename C>
void softmax_columns(const T* x, int64_t n, int64_t stride, int64_t width, C* block, T* out) {
  C most[kBlockColumns];
  C sums[kBlockColumns] = {};
  std::fill_n(most, kBlockColumns, -std::numeric_limits<C>::infinity());
  for (int64_t k = 0; k < n; ++k) {
    C* row = block + k * kBlockColumns;
    convert(x + k * stride, row, width);
    for (int64_t i = 0; i < width; ++i)
      most[i] = row[i] > most[i] || row[i] != row[i] ? row[i] : most[i];
  }
  for (int64_t k = 0; k < n; ++k) {
    C* row = block + k * kBlockColumns;
    for (int64_t i = 0; i < width; ++i) row[i] = fast::exp(row[i] - most[i]);
    for (int64_t i = 0; i < width; ++i) sums[i] += row[i];
  }
  for (int64_t i = 0; i < width; ++i) sums[i] = C(1) / sums[i];
  for (int64_t k = 0; k < n; ++k) {
    C* row = block + k * kBlockColumns;
    for (int64_t i = 0; i < width; ++i) row[i] *= sums[i];
    convert(row, out + k * stride, width);
  }
}

}  // namespace

template <typename T>
void SoftmaxKernel(const CpuContext&, const DenseTensor& x, int axis, DenseTensor* out) {
  if (x.numel() == 0) return;
  const Dims dims = x.ndim() == 0 ? Dims{1} : x.dims();
  const int at = axis < 0 ? axis + dims.ndim() : axis;
  const int64_t n = dims[at];
  const int64_t inner = dims.numel(at + 1, dims.ndim());
  const int64_t outer = dims.numel(0, at);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  if (inner == 1) return softmax_rows(from, outer, n, to);
  std::vector<compute_t<T>> block(n * kBlockColumns);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t begin = 0; begin < inner; begin += kBlockColumns) {
      const int64_t start = o * n * inner + begin;
      const int64_t width = std::min(kBlockColumns, inner - begin);
      softmax_columns(from + start, n, inner, width, block.data(), to + start);
    }
  }
}

PHI_REGISTER_KERNEL(softmax, CPU, SoftmaxKernel, float, double, bfloat16, float16);

}  // namespace phi
