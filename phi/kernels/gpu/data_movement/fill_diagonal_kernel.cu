// fill_diagonal on GPUs.
#include "phi/generated/kernels/diagonal.h"
#include "phi/kernels/functors/scalar_value.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/random/draw.h"

namespace phi {
namespace {

/// `value` at the elements whose index in the global array is `offset` more than a multiple of
/// `step` and which are in the row of that multiple; else x.
template <typename T>
struct OnLongDiagonal {
  const T* x;
  gpu::GlobalIndex index;
  int64_t offset;
  int64_t step;
  int64_t columns;
  int64_t end;  // upper limit of the multiples
  T value;
  PHI_HD T operator()(int64_t i) const {
    const int64_t begin = index.of(i) - offset;
    if (begin < 0 || begin >= end || begin % step != 0) return x[i];
    const int64_t column = begin % columns + offset;
    return column >= 0 && column < columns ? value : x[i];
  }
};

}  // namespace

/// Same contract as on the CPU: fills the diagonal of the *global* array, for any shard. out may be
/// x.
template <typename T, typename Context>
void FillDiagonalKernel(const Context& ctx, const DenseTensor& x, float value, int offset,
                        bool wrap, DenseTensor* out) {
  if (x.numel() == 0) return;
  const ShardBox here = ctx.output_box(0, x.dims());
  const int64_t columns = here.global[1];
  const int64_t all = here.global.numel();
  // columns * columns may overflow int64, so compare by division first.
  const bool tall = columns <= all / columns && columns * columns < all;
  int64_t step = 0;
  for (int64_t stride : here.global.strides()) step += stride;
  index_loop(
      ctx, out->mutable_data<T>(), x.numel(),
      OnLongDiagonal<T>{x.data<T>(), gpu::global_index(here), offset, step, columns,
                        wrap || !tall ? all : columns * columns, scalar_value<T>(Scalar(value))});
}

PHI_REGISTER_KERNEL(fill_diagonal, GPU, FillDiagonalKernel, EveryType);

}  // namespace phi
