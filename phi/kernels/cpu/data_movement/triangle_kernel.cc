// tril, triu and fill_diagonal on the CPU, on the local part of the global tensor.
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/diagonal.h"
#include "phi/generated/kernels/shape.h"
#include "phi/kernels/cpu/numbers.h"
#include "phi/kernels/functors/scalar_value.h"

namespace phi {

namespace {

/// Copies the rows of x's matrices to `out`. Row r keeps the columns kept(r + shift); others become
/// 0. Row r of the local part has the diagonal of the *global* matrix in column r + shift. out may
/// be x.
template <typename Context, typename Kept>
void keep_columns(const Context& ctx, const DenseTensor& x, DenseTensor* out, Kept kept) {
  if (x.numel() == 0) return;
  const Box here = ctx.output_box(0, x.dims()).box;
  const int row_dim = x.ndim() - 2;
  const int64_t rows = x.dims()[row_dim], columns = x.dims()[row_dim + 1];
  const int64_t shift = here.offset[row_dim] - here.offset[row_dim + 1];
  const size_t width = size_of(x.dtype());
  const auto* from = static_cast<const std::byte*>(x.raw_data());
  auto* to = static_cast<std::byte*>(out->mutable_raw_data());
  const size_t row_bytes = static_cast<size_t>(columns) * width;
  for (int64_t matrix = 0; matrix < x.dims().numel(0, row_dim); ++matrix) {
    for (int64_t r = 0; r < rows; ++r, from += row_bytes, to += row_bytes) {
      const auto [first, last] = kept(r + shift);
      const size_t begin = width * static_cast<size_t>(std::clamp<int64_t>(first, 0, columns));
      const size_t end = width * static_cast<size_t>(std::clamp<int64_t>(last, 0, columns));
      std::memset(to, 0, begin);
      if (from != to) std::memcpy(to + begin, from + begin, end - begin);
      std::memset(to + end, 0, row_bytes - end);
    }
  }
}

constexpr int64_t kFarRight = std::numeric_limits<int64_t>::max();

}  // namespace

/// Elements above diagonal `diagonal` become zero.
template <typename T, typename Context>
void TrilKernel(const Context& ctx, const DenseTensor& x, int diagonal, DenseTensor* out) {
  keep_columns(ctx, x, out,
               [diagonal](int64_t own) { return std::pair(int64_t{0}, own + diagonal + 1); });
}

/// Elements below diagonal `diagonal` become zero.
template <typename T, typename Context>
void TriuKernel(const Context& ctx, const DenseTensor& x, int diagonal, DenseTensor* out) {
  keep_columns(ctx, x, out,
               [diagonal](int64_t own) { return std::pair(own + diagonal, kFarRight); });
}

/// Writes `value` to the diagonal of the *global* array: every element whose number is a multiple
/// of the sum of the strides, moved by `offset` within its row. Without `wrap` the diagonal ends
/// with the first square. out may be x.
template <typename T, typename Context>
void FillDiagonalKernel(const Context& ctx, const DenseTensor& x, float value, int offset,
                        bool wrap, DenseTensor* out) {
  keep(x, out);
  if (x.numel() == 0) return;
  const ShardBox here = ctx.output_box(0, x.dims());
  const Dims strides = here.global.strides();
  const Dims own = here.box.size.strides();
  const int64_t columns = here.global[1];
  const int64_t all = here.global.numel();
  // columns * columns may overflow int64; it matters only below `all`.
  const bool tall = columns <= all / columns && columns * columns < all;
  const int64_t end = wrap || !tall ? all : columns * columns;
  int64_t step = 0;
  for (int64_t stride : strides) step += stride;
  T* to = out->mutable_data<T>();
  const T element = scalar_value<T>(Scalar(value));
  for (int64_t i = 0; i < end; i += step) {
    const int64_t column = i % columns + offset;
    if (column < 0 || column >= columns) continue;
    int64_t at = 0;
    bool inside = true;
    int64_t rest = i + offset;
    for (int d = 0; d < strides.ndim() && inside; ++d) {
      const int64_t index = rest / strides[d] - here.box.offset[d];
      rest %= strides[d];
      inside = index >= 0 && index < here.box.size[d];
      at += index * own[d];
    }
    if (inside) to[at] = element;
  }
}

PHI_REGISTER_KERNEL(tril, CPU, TrilKernel, EveryType);
PHI_REGISTER_KERNEL(triu, CPU, TriuKernel, EveryType);
PHI_REGISTER_KERNEL(fill_diagonal, CPU, FillDiagonalKernel, EveryType);

}  // namespace phi
