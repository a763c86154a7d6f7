// triu and fill_diagonal on the CPU: each asks where its part lies.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/diagonal.h"
#include "phi/kernels/cpu/numbers.h"
#include "phi/kernels/functors/scalar_value.h"

namespace phi {

/// Zero below the diagonal of the *global* matrices, whatever part of them is here. out may be x.
template <typename T, typename Context>
void TriuKernel(const Context& ctx, const DenseTensor& x, int diagonal, DenseTensor* out) {
  if (x.numel() == 0) return;
  const Box here = ctx.output_box(0, x.dims()).box;
  const int row_dim = x.ndim() - 2;
  const int64_t rows = x.dims()[row_dim];
  const int64_t columns = x.dims()[row_dim + 1];
  // Row r keeps its columns c with global c >= global r + diagonal.
  const int64_t shift = here.offset[row_dim] - here.offset[row_dim + 1] + diagonal;
  keep(x, out);
  T* to = out->mutable_data<T>();
  for (int64_t m = 0; m < x.dims().numel(0, row_dim); ++m) {
    for (int64_t r = 0; r < rows; ++r, to += columns) {
      std::fill_n(to, std::clamp<int64_t>(r + shift, 0, columns), T(0));
    }
  }
}

/// `value` on the diagonal of the *global* array, whatever part of it is here: at every element
/// whose number is a multiple of the sum of the strides, `offset` further in its row. Without
/// `wrap` the diagonal ends where the first square does. out may be x.
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
  // columns * columns may be more than int64 holds; it matters only below `all`.
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

PHI_REGISTER_KERNEL(triu, CPU, TriuKernel, EveryType);
PHI_REGISTER_KERNEL(fill_diagonal, CPU, FillDiagonalKernel, EveryType);

}  // namespace phi
