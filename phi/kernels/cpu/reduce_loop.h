// The loops of reductions: along contiguous rows, or down the columns of a matrix, inside any nest
// of outer tensor dims.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/cpu/strided_walk.h"
#include "phi/kernels/cpu/wide.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// The loops of a reduction: kept tensor dims and reduced ones apart, neighbours of a kind merged.
struct ReducePlan {
  ReducePlan(const Dims& dims, AxisSet reduced_axes) {
    const Dims strides = dims.strides();
    bool last_is_reduced = false;
    for (int d = 0; d < dims.ndim(); ++d) {
      if (dims[d] == 1) continue;
      last_is_reduced = reduced_axes.has(d);
      (last_is_reduced ? reduced : kept).append(dims[d], {strides[d]});
    }
    // The innermost tensor dim is contiguous: its loop is taken out for the loops below.
    StridedWalk<1>& innermost = last_is_reduced ? reduced : kept;
    along_rows = last_is_reduced || kept.ndim() == 0;
    if (innermost.ndim() > 0) {
      inner = innermost.size(innermost.ndim() - 1);
      innermost.remove(innermost.ndim() - 1);
    }
  }

  StridedWalk<1> kept;
  StridedWalk<1> reduced;
  int64_t inner = 1;
  bool along_rows = true;  // the inner loop reduces; else it is kept
};

namespace detail {

inline constexpr int64_t kReduceBlock = 1024;  // elements summed in Lane before a carry
inline constexpr int kReduceLanes = 32;        // independent sums: enough to hide add latency
inline constexpr int64_t kColumnTile = 1024;   // a page of a float row at a time
inline constexpr int64_t kRowsPerCarry = 16;

/// What a reducer joins of an element.
template <typename R, typename C>
PHI_HD typename R::Lane lift(C x) {
  if constexpr (requires { R::lift(x); }) {
    return R::lift(x);
  } else {
    return static_cast<typename R::Lane>(x);
  }
}

template <typename R, typename C>
inline typename R::Lane reduce_block(const C* x, int64_t n) {
  using Lane = typename R::Lane;
  Lane value = R::kIdentity;
  int64_t i = 0;
  if (n >= kReduceLanes) {
    Lane lanes[kReduceLanes];
    for (int64_t l = 0; l < kReduceLanes; ++l) lanes[l] = R::join(lift<R>(x[l]), R::kIdentity);
    for (i = kReduceLanes; i + kReduceLanes <= n; i += kReduceLanes) {
      for (int64_t l = 0; l < kReduceLanes; ++l) lanes[l] = R::join(lanes[l], lift<R>(x[i + l]));
    }
    value = fold_lanes(lanes, [](Lane a, Lane b) { return R::join(a, b); });
  }
  for (; i < n; ++i) value = R::join(value, lift<R>(x[i]));
  return value;
}

template <typename R, typename T>
inline typename R::Acc reduce_row(const T* x, int64_t n, typename R::Acc value) {
  for (int64_t i = 0; i < n; i += kReduceBlock) {
    const int64_t count = std::min(kReduceBlock, n - i);
    if constexpr (kIs16Bit<T>) {
      float buffer[kReduceBlock];
      convert(x + i, buffer, count);
      value = R::carry(value, reduce_block<R>(buffer, count));
    } else {
      value = R::carry(value, reduce_block<R>(x + i, count));
    }
  }
  return value;
}

/// Joins rows of `n` columns, found by `rows`, into one row of values.
template <typename R, typename T>
class ColumnReduction {
 public:
  using Lane = typename R::Lane;
  using Acc = typename R::Acc;

  void run(const T* x, const StridedWalk<1>& rows, int64_t n, Acc* values) {
    std::fill_n(values, n, Acc(R::kIdentity));
    std::fill_n(lanes_, n, R::kIdentity);
    int64_t pending = 0;
    rows.for_each([&](const std::array<int64_t, 1>& at) {
      add_row(x + at[0], n);
      if (++pending == kRowsPerCarry) {
        carry(n, values);
        pending = 0;
      }
    });
    carry(n, values);
  }

 private:
  void add_row(const T* row, int64_t n) {
    if constexpr (kIs16Bit<T>) {
      float buffer[kColumnTile];
      convert(row, buffer, n);
      for (int64_t c = 0; c < n; ++c) lanes_[c] = R::join(lanes_[c], lift<R>(buffer[c]));
    } else {
      for (int64_t c = 0; c < n; ++c) lanes_[c] = R::join(lanes_[c], lift<R>(row[c]));
    }
  }
  void carry(int64_t n, Acc* values) {
    for (int64_t c = 0; c < n; ++c) {
      values[c] = R::carry(values[c], lanes_[c]);
      lanes_[c] = R::kIdentity;
    }
  }

  Lane lanes_[kColumnTile];
};

}  // namespace detail

/// Writes runs of values, converted, to an array of any dtype.
class StoreValues {
 public:
  explicit StoreValues(DenseTensor* out) : out_(out) {}
  template <typename Value>
  void operator()(int64_t first, const Value* values, int64_t count) const {
    visit_dtype(out_->dtype(),
                [&]<typename To>() { convert(values, out_->mutable_data<To>() + first, count); });
  }

 private:
  DenseTensor* out_;
};

/// Reduces x over `axes`; calls store(first output, values, count) for runs of outputs in order.
template <typename R, typename T, typename Store>
void reduce_loop(const T* x, const Dims& dims, AxisSet axes, Store&& store) {
  using Acc = typename R::Acc;
  const ReducePlan plan(dims, axes);
  Acc values[detail::kColumnTile];
  int64_t done = 0;
  if (plan.along_rows) {
    int64_t filled = 0;
    plan.kept.for_each([&](const std::array<int64_t, 1>& kept) {
      Acc value = Acc(R::kIdentity);
      plan.reduced.for_each([&](const std::array<int64_t, 1>& at) {
        value = detail::reduce_row<R>(x + kept[0] + at[0], plan.inner, value);
      });
      values[filled] = value;
      if (++filled == detail::kColumnTile) {
        store(done, values, filled);
        done += filled;
        filled = 0;
      }
    });
    if (filled > 0) store(done, values, filled);
    return;
  }
  detail::ColumnReduction<R, T> columns;
  plan.kept.for_each([&](const std::array<int64_t, 1>& kept) {
    for (int64_t c = 0; c < plan.inner; c += detail::kColumnTile) {
      const int64_t count = std::min(detail::kColumnTile, plan.inner - c);
      const T* first = x + kept[0] + c;
      run_widest<compute_t<T>>([&] { columns.run(first, plan.reduced, count, values); });
      store(done, values, count);
      done += count;
    }
  });
}

}  // namespace phi
