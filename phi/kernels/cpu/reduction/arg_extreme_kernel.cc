// argmax and argmin on the CPU.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/cpu/axis_view.h"
#include "phi/kernels/cpu/reduce_loop.h"
#include "phi/kernels/functors/reduce.h"

namespace phi {
namespace {

// The first index of a row for which holds(x) is true; there is one. Blocks are looked through
// without a jump per element.
template <typename T, typename Holds>
int64_t first_of_row(const T* x, int64_t n, Holds holds) {
  constexpr int64_t kBlock = 64;
  int64_t begin = 0;
  for (; begin + kBlock <= n; begin += kBlock) {
    int32_t found = 0;
    for (int64_t i = 0; i < kBlock; ++i) found |= holds(x[begin + i]) ? 1 : 0;
    if (found != 0) break;
  }
  return std::find_if(x + begin, x + n, holds) - x;
}

// The first index of the largest or smallest element of a row, or of its first NaN.
template <typename R, typename T>
int64_t best_of_row(const T* x, int64_t n) {
  using C = compute_t<T>;
  const C best = detail::reduce_row<R>(x, n, R::kIdentity);
  if (best != best) return first_of_row(x, n, [](T v) { return C(v) != C(v); });
  return first_of_row(x, n, [best](T v) { return C(v) == best; });
}

// The best element so far of each column of a tile, and its row.
template <typename R, typename T>
void best_of_columns(const T* x, int64_t rows, int64_t row_stride, int64_t columns,
                     int64_t* index) {
  using C = compute_t<T>;
  C best[detail::kColumnTile];
  for (int64_t c = 0; c < columns; ++c) {
    best[c] = static_cast<C>(x[c]);
    index[c] = 0;
  }
  for (int64_t r = 1; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const C value = static_cast<C>(x[r * row_stride + c]);
      const C joined = R::join(best[c], value);
      const bool better = joined != best[c] && best[c] == best[c];  // the first NaN stays
      best[c] = joined;
      index[c] = better ? r : index[c];
    }
  }
}

template <typename R, typename T>
void arg_extreme(const DenseTensor& x, const Scalar& axis, bool flatten, DenseTensor* out) {
  if (x.numel() == 0) return;
  const AxisView view =
      flatten ? AxisView::flat(x.numel()) : AxisView(x.dims(), axis.to<int64_t>());
  const T* from = x.data<T>();
  const StoreValues store(out);
  int64_t index[detail::kColumnTile];
  if (view.inner == 1) {
    for (int64_t o = 0; o < view.outer; ++o) {
      index[0] = best_of_row<R>(from + o * view.n, view.n);
      store(o, index, 1);
    }
    return;
  }
  int64_t done = 0;
  view.for_each_block(detail::kColumnTile, [&](int64_t start, int64_t width) {
    best_of_columns<R>(from + start, view.n, view.inner, width, index);
    store(done, index, width);
    done += width;
  });
}

}  // namespace

/// The first index of the largest element (of the first NaN, if any); out is int32 or int64.
template <typename T, typename Context>
void ArgMaxKernel(const Context&, const DenseTensor& x, const Scalar& axis, bool flatten,
                  DenseTensor* out) {
  arg_extreme<MaxReducer<T>, T>(x, axis, flatten, out);
}

/// The same of the smallest.
template <typename T, typename Context>
void ArgMinKernel(const Context&, const DenseTensor& x, const Scalar& axis, bool flatten,
                  DenseTensor* out) {
  arg_extreme<MinReducer<T>, T>(x, axis, flatten, out);
}

PHI_REGISTER_KERNEL(argmax, CPU, ArgMaxKernel, Numbers);
PHI_REGISTER_KERNEL(argmin, CPU, ArgMinKernel, Numbers);

}  // namespace phi
