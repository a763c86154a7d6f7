// CPU kernel of transpose.
#include <bit>
#include <cstdint>
#include <cstring>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/shape.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/transpose_matrix.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/strided_walk.h"

namespace phi {
namespace {

// Returns the loops over out in row-major order; offset 0 is into x, 1 into out.
StridedWalk<2> loops_of(const Dims& x_dims, const std::vector<int>& perm, const Dims& out_dims) {
  const Dims x_strides = x_dims.strides();
  const Dims out_strides = out_dims.strides();
  StridedWalk<2> walk;
  for (int d = 0; d < out_dims.ndim(); ++d) {
    const int from = normalise_axis(perm[d], x_dims.ndim(), x_dims, "perm");
    walk.append(out_dims[d], {x_strides[from], out_strides[d]});
  }
  return walk;
}

/// Transposes rows of 2, 4, 8 or 16 bytes as single elements; returns false for other rows.
template <typename W>
bool transpose_short_rows(const W* x, W* out, const StridedWalk<2>& walk);

template <typename W>
void transpose(const W* x, W* out, StridedWalk<2> walk) {
  if (walk.ndim() == 0) {
    *out = *x;
    return;
  }
  const int last = walk.ndim() - 1;
  if (walk.stride(last, 0) == 1) {  // rows are moved whole
    if (transpose_short_rows(x, out, walk)) return;
    const size_t row_bytes = static_cast<size_t>(walk.size(last)) * sizeof(W);
    walk.remove(last);
    walk.for_each(
        [&](const std::array<int64_t, 2>& at) { std::memcpy(out + at[1], x + at[0], row_bytes); });
    return;
  }
  // Transposes a matrix of x's contiguous tensor dim by out's, inside the other loops.
  int contiguous = 0;
  while (walk.stride(contiguous, 0) != 1) ++contiguous;
  const int64_t rows = walk.size(last);
  const int64_t x_stride = walk.stride(last, 0);
  const int64_t columns = walk.size(contiguous);
  const int64_t out_stride = walk.stride(contiguous, 1);
  walk.remove(last);
  walk.remove(contiguous);
  walk.for_each([&](const std::array<int64_t, 2>& at) {
    transpose_matrix(x + at[0], x_stride, out + at[1], out_stride, rows, columns);
  });
}

template <typename W>
bool transpose_short_rows(const W* x, W* out, const StridedWalk<2>& walk) {
  const int last = walk.ndim() - 1;
  const int64_t row = walk.size(last);
  const size_t row_bytes = static_cast<size_t>(row) * sizeof(W);
  if (row_bytes > sizeof(Bits128) || !std::has_single_bit(row_bytes)) return false;
  return visit_width(row_bytes, [&]<typename Row>() {
    const auto places = reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(out);
    if (places % alignof(Row) != 0) return false;
    StridedWalk<2> rows;
    for (int d = 0; d < last; ++d) {
      rows.append(walk.size(d), {walk.stride(d, 0) / row, walk.stride(d, 1) / row});
    }
    transpose(reinterpret_cast<const Row*>(x), reinterpret_cast<Row*>(out), rows);
    return true;
  });
}

}  // namespace

template <typename T, typename Context>
void TransposeKernel(const Context&, const DenseTensor& x, const std::vector<int>& perm,
                     DenseTensor* out) {
  using W = width_t<T>;
  if (x.numel() == 0) return;
  transpose(static_cast<const W*>(x.raw_data()), static_cast<W*>(out->mutable_raw_data()),
            loops_of(x.dims(), perm, out->dims()));
}

PHI_REGISTER_KERNEL(transpose, CPU, TransposeKernel, EveryType);

}  // namespace phi
