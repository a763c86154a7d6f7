// argmax and argmin on the CPU.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/cpu/axis_view.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

struct ArgLargest {
  template <typename C>
  PHI_HD static bool precedes(C a, C b) {
    return a > b;
  }
};

struct Smallest {
  template <typename C>
  PHI_HD static bool precedes(C a, C b) {
    return a < b;
  }
};

constexpr int64_t kColumns = 1024;  // columns per tile

template <typename C>
struct ArgExtreme {
  C value;
  int64_t index;
};

template <typename C>
bool is_nan(C x) {
  return x != x;
}

constexpr int kArgLanes = 32;
constexpr int64_t kArgBlock = 1024;  // the steps of a lane fit into a byte

// An integer as wide as C, so that value and index are selected by the same mask.
template <typename C>
using lane_step_t = std::conditional_t<sizeof(C) == 8, uint64_t,
                                       std::conditional_t<sizeof(C) == 4, uint32_t, uint8_t>>;

// Returns the best element of whole rows of lanes, and its first index. If an element is NaN, the
// result is wrong and `sum` is NaN, which infinities of both signs cause too.
template <typename R, typename C>
inline ArgExtreme<C> best_of_lanes(const C* x, int64_t n, C* sum) {
  C best[kArgLanes];
  C sums[kArgLanes];
  lane_step_t<C> step[kArgLanes];
  for (int l = 0; l < kArgLanes; ++l) {
    best[l] = sums[l] = x[l];
    step[l] = 0;
  }
  lane_step_t<C> now = 1;
  for (int64_t i = kArgLanes; i + kArgLanes <= n; i += kArgLanes, ++now) {
    for (int l = 0; l < kArgLanes; ++l) step[l] = R::precedes(x[i + l], best[l]) ? now : step[l];
    for (int l = 0; l < kArgLanes; ++l)
      best[l] = R::precedes(x[i + l], best[l]) ? x[i + l] : best[l];
    if constexpr (std::is_floating_point_v<C>) {
      for (int l = 0; l < kArgLanes; ++l) sums[l] += x[i + l];
    }
  }
  const C value = fold_lanes<kArgLanes>(best, [](C a, C b) { return R::precedes(a, b) ? a : b; });
  int32_t places[kArgLanes];
  for (int32_t l = 0; l < kArgLanes; ++l) {
    const int32_t place = static_cast<int32_t>(step[l]) * kArgLanes + l;
    places[l] = best[l] == value ? place : static_cast<int32_t>(kArgBlock);
  }
  *sum = C(0);
  if constexpr (std::is_floating_point_v<C>) {
    *sum = fold_lanes<kArgLanes>(sums, [](C a, C b) { return a + b; });
  }
  return {value, fold_lanes<kArgLanes>(places, [](int32_t a, int32_t b) { return a < b ? a : b; })};
}

// Returns the best element, or the first NaN, of at most a block, and its first index.
template <typename R, typename C>
inline ArgExtreme<C> best_of_block(const C* x, int64_t n) {
  ArgExtreme<C> best{x[0], 0};
  int64_t i = 0;
  if (n >= kArgLanes) {
    C sum;
    best = best_of_lanes<R>(x, n, &sum);
    if (is_nan(sum)) {
      const C* nan = std::find_if(x, x + n, is_nan<C>);
      if (nan != x + n) return {*nan, nan - x};
    }
    i = n - n % kArgLanes;
  }
  for (; i < n && !is_nan(best.value); ++i) {
    if (R::precedes(x[i], best.value) || is_nan(x[i])) best = {x[i], i};
  }
  return best;
}

// The same for a row of any length above 0.
template <typename R, typename T>
int64_t best_of_row(const T* x, int64_t n) {
  using C = compute_t<T>;
  ArgExtreme<C> best{C(0), -1};
  [[maybe_unused]] float buffer[kIs16Bit<T> ? kArgBlock : 1];
  for (int64_t begin = 0; begin < n; begin += kArgBlock) {
    const int64_t count = std::min(kArgBlock, n - begin);
    const C* block;
    if constexpr (kIs16Bit<T>) {
      convert(x + begin, buffer, count);
      block = buffer;
    } else {
      block = x + begin;
    }
    const auto found = run_best_isa<C>([=] { return best_of_block<R>(block, count); });
    const bool has_nan = is_nan(found.value);
    if (begin == 0 || has_nan || R::precedes(found.value, best.value))
      best = {found.value, begin + found.index};
    if (has_nan) break;
  }
  return best.index;
}

// Sets index[c] to the row of the best element of each column of a tile.
template <typename R, typename T>
void best_of_columns(const T* x, int64_t rows, int64_t row_stride, int64_t columns,
                     int64_t* index) {
  using C = compute_t<T>;
  C best[kColumns];
  for (int64_t c = 0; c < columns; ++c) {
    best[c] = static_cast<C>(x[c]);
    index[c] = 0;
  }
  for (int64_t r = 1; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const C value = static_cast<C>(x[r * row_stride + c]);
      const bool has_nan = is_nan(best[c]);  // the first NaN stays
      const bool is_better = (R::precedes(value, best[c]) || is_nan(value)) && !has_nan;
      best[c] = is_better ? value : best[c];
      index[c] = is_better ? r : index[c];
    }
  }
}

// Writes indices to an array of int32 or int64.
void store_indices(const int64_t* index, int64_t count, int64_t first, DenseTensor* out) {
  if (out->dtype() == DataType::INT32)
    return convert(index, out->mutable_data<int32_t>() + first, count);
  convert(index, out->mutable_data<int64_t>() + first, count);
}

template <typename R, typename T>
void arg_extreme(const DenseTensor& x, const Scalar& axis, bool flatten, DenseTensor* out) {
  if (x.numel() == 0) return;
  const AxisView view =
      flatten ? AxisView::flat(x.numel()) : AxisView(x.dims(), axis.to<int64_t>());
  const T* from = x.data<T>();
  int64_t index[kColumns];
  if (view.inner == 1) {
    for (int64_t o = 0; o < view.outer; ++o) {
      index[0] = best_of_row<R>(from + o * view.n, view.n);
      store_indices(index, 1, o, out);
    }
    return;
  }
  int64_t done = 0;
  view.for_each_block(kColumns, [&](int64_t start, int64_t width) {
    best_of_columns<R>(from + start, view.n, view.inner, width, index);
    store_indices(index, width, done, out);
    done += width;
  });
}

using CpuArgExtremeTypes = join_t<TypeList<int16_t>, Numbers>;

}  // namespace

/// out: the first index of the largest element, or of the first NaN if there is one; int32 or
/// int64.
template <typename T, typename Context>
void ArgMaxKernel(const Context&, const DenseTensor& x, const Scalar& axis, bool flatten,
                  DenseTensor* out) {
  arg_extreme<ArgLargest, T>(x, axis, flatten, out);
}

/// out: the first index of the smallest element, or of the first NaN if there is one; int32 or
/// int64.
template <typename T, typename Context>
void ArgMinKernel(const Context&, const DenseTensor& x, const Scalar& axis, bool flatten,
                  DenseTensor* out) {
  arg_extreme<Smallest, T>(x, axis, flatten, out);
}

PHI_REGISTER_KERNEL(argmax, CPU, ArgMaxKernel, CpuArgExtremeTypes);
PHI_REGISTER_KERNEL(argmin, CPU, ArgMinKernel, CpuArgExtremeTypes);

}  // namespace phi
