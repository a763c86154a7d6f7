// The loops of reductions: along contiguous rows, or down the columns of a matrix, inside any nest
// of outer tensor dims.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/cpu/strided_walk.h"
#include "phi/kernels/cpu/wide.h"
#include "phi/kernels/functors/reduce.h"

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
inline constexpr int kReduceLanes = 32;        // independent sums of a block
inline constexpr int64_t kColumnTile = 1024;   // a page of a float row at a time
inline constexpr int64_t kRowsPerCarry = 16;
inline constexpr int kRowBatch = 64;  // short rows between two looks at the machine's registers

/// Blocks that are reduced side by side, as in each an addition waits for the one before: so many
/// that their lanes leave half of sixteen registers of 32 bytes.
template <typename R>
inline constexpr int kAbreast =
    std::max<int>(1, 256 / (kReduceLanes * static_cast<int>(sizeof(typename R::Lane))));

/// A reducer that has a quicker join for numbers; whether there is a NaN shows in their sum.
template <typename R>
concept JoinsNumbers = std::is_floating_point_v<typename R::Lane> && requires(typename R::Lane a) {
  R::join_numbers(a, a);
};

/// values[k] = the elements of block k joined by `join`, of as many whole rows of lanes as n has,
/// at least one. Calls look(i) before elements i and on are joined.
template <typename R, int kCount, typename C, typename Join, typename Look>
inline void join_lanes(const C* const (&x)[kCount], int64_t n, Join join, Look look,
                       typename R::Lane* values) {
  typename R::Lane lanes[kCount][kReduceLanes];
  look(0);
  for (int k = 0; k < kCount; ++k) {
    for (int l = 0; l < kReduceLanes; ++l) lanes[k][l] = R::join(lift<R>(x[k][l]), R::kIdentity);
  }
  for (int64_t i = kReduceLanes; i + kReduceLanes <= n; i += kReduceLanes) {
    look(i);
    for (int k = 0; k < kCount; ++k) {
      for (int l = 0; l < kReduceLanes; ++l) lanes[k][l] = join(lanes[k][l], lift<R>(x[k][i + l]));
    }
  }
  for (int k = 0; k < kCount; ++k) values[k] = fold_lanes(lanes[k], join);
}

/// The same by R::join_numbers, or false where there may be a NaN, which shows in the sum of all
/// elements, as infinities of both signs do.
template <typename R, int kCount, typename C>
inline bool join_numbers(const C* const (&x)[kCount], int64_t n, typename R::Lane* values) {
  using Lane = typename R::Lane;
  Lane sums[kReduceLanes] = {};
  const auto add = [&](int64_t i) {
    for (int l = 0; l < kReduceLanes; ++l) {
      Lane sum = x[0][i + l];
      for (int k = 1; k < kCount; ++k) sum += x[k][i + l];
      sums[l] += sum;
    }
  };
  join_lanes<R>(
      x, n, [](Lane a, Lane b) { return R::join_numbers(a, b); }, add, values);
  const Lane sum = fold_lanes(sums, [](Lane a, Lane b) { return a + b; });
  return sum == sum;
}

/// values[k] = the elements of block k, of n, joined.
template <typename R, int kCount, typename C>
inline void reduce_blocks(const C* const (&x)[kCount], int64_t n, typename R::Lane* values) {
  using Lane = typename R::Lane;
  const auto exactly = [](Lane a, Lane b) { return R::join(a, b); };
  std::fill_n(values, kCount, R::kIdentity);
  if (n >= kReduceLanes) {
    bool is_done = false;
    if constexpr (JoinsNumbers<R>) is_done = join_numbers<R>(x, n, values);
    if (!is_done)
      join_lanes<R>(
          x, n, exactly, [](int64_t) {}, values);
  }
  for (int k = 0; k < kCount; ++k) {
    for (int64_t i = n - n % kReduceLanes; i < n; ++i)
      values[k] = R::join(values[k], lift<R>(x[k][i]));
  }
}

/// values[k] = the elements of x[k], n of them and no more than a block has, joined.
template <typename R, int kCount, typename T>
inline void reduce_blocks_of(const T* const* x, int64_t n, typename R::Lane* values) {
  using C = compute_t<T>;
  const C* blocks[kCount];
  if constexpr (kIs16Bit<T>) {
    float buffer[kCount][kReduceBlock];
    for (int k = 0; k < kCount; ++k) {
      convert(x[k], buffer[k], n);
      blocks[k] = buffer[k];
    }
    reduce_blocks<R>(blocks, n, values);
  } else {
    std::copy_n(x, kCount, blocks);
    reduce_blocks<R>(blocks, n, values);
  }
}

/// values[r] = the elements of rows[r], n of them and no more than a block has, joined.
template <typename R, typename T>
inline void reduce_short_rows(const T* const* rows, int64_t count, int64_t n,
                              typename R::Acc* values) {
  typename R::Lane joined[kRowBatch];
  int64_t r = 0;
  for (; r + kAbreast<R> <= count; r += kAbreast<R>) {
    reduce_blocks_of<R, kAbreast<R>>(rows + r, n, joined + r);
  }
  for (; r < count; ++r) reduce_blocks_of<R, 1>(rows + r, n, joined + r);
  for (r = 0; r < count; ++r) values[r] = R::carry(typename R::Acc(R::kIdentity), joined[r]);
}

template <typename R, typename T>
inline typename R::Acc reduce_row(const T* x, int64_t n, typename R::Acc value) {
  constexpr int kCount = kIs16Bit<T> ? 1 : kAbreast<R>;  // conversions are what 16 bits wait for
  typename R::Lane joined[kCount];
  for (; kCount > 1 && n >= kCount * kReduceBlock; n -= kCount * kReduceBlock) {
    const T* blocks[kCount];
    for (const T*& block : blocks) {
      block = x;
      x += kReduceBlock;
    }
    reduce_blocks_of<R, kCount>(blocks, kReduceBlock, joined);
    for (const auto& block : joined) value = R::carry(value, block);
  }
  for (; n > 0; n -= kReduceBlock, x += kReduceBlock) {
    reduce_blocks_of<R, 1>(&x, std::min(kReduceBlock, n), joined);
    value = R::carry(value, joined[0]);
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
    const T* found[kTogether];
    int64_t pending = 0;
    rows.for_each([&](const std::array<int64_t, 1>& at) {
      found[pending % kTogether] = x + at[0];
      if (++pending % kTogether == 0) add_rows<kTogether>(found, n);
      if (pending == kRowsPerCarry) {
        carry(n, values);
        pending = 0;
      }
    });
    for (int64_t r = 0; r < pending % kTogether; ++r) add_rows<1>(found + r, n);
    carry(n, values);
  }

 private:
  // Rows that are read together, so that lanes are loaded and stored once for all of them. Joins
  // that look for NaN would wait for each other.
  static constexpr int64_t kTogether = JoinsNumbers<R> || kIs16Bit<T> ? 1 : 4;

  template <int kCount>
  void add_rows(const T* const* rows, int64_t n) {
    if constexpr (kIs16Bit<T>) {
      float buffer[kColumnTile];
      convert(rows[0], buffer, n);
      for (int64_t c = 0; c < n; ++c) lanes_[c] = R::join(lanes_[c], lift<R>(buffer[c]));
    } else if constexpr (kCount == 1) {
      const T* row = rows[0];
      for (int64_t c = 0; c < n; ++c) lanes_[c] = R::join(lanes_[c], lift<R>(row[c]));
    } else {
      const T* row[kCount];
      std::copy_n(rows, kCount, row);
      for (int64_t c = 0; c < n; ++c) {
        Lane lane = lanes_[c];
        for (int r = 0; r < kCount; ++r) lane = R::join(lane, lift<R>(row[r][c]));
        lanes_[c] = lane;
      }
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

namespace detail {

/// reduce_loop along rows: short ones in batches, others one by one.
template <typename R, typename T, typename Store>
void reduce_rows(const T* x, const ReducePlan& plan, Store& store) {
  using Acc = typename R::Acc;
  const bool is_short = plan.reduced.ndim() == 0 && plan.inner <= kReduceBlock;
  Acc values[kColumnTile];
  const T* rows[kRowBatch];
  int64_t done = 0;
  int64_t filled = 0;   // values
  int64_t waiting = 0;  // rows
  const auto reduce_waiting = [&] {
    run_widest<compute_t<T>>([&rows, waiting, n = plan.inner, to = values + filled] {
      reduce_short_rows<R, T>(rows, waiting, n, to);
    });
    filled += waiting;
    waiting = 0;
  };
  const auto store_filled = [&] {
    if (filled > 0) store(done, values, filled);
    done += filled;
    filled = 0;
  };
  plan.kept.for_each([&](const std::array<int64_t, 1>& kept) {
    if (is_short) {
      rows[waiting] = x + kept[0];
      if (++waiting == kRowBatch) reduce_waiting();
    } else {
      values[filled++] = run_widest<compute_t<T>>([&plan, first = x + kept[0]] {
        Acc value = Acc(R::kIdentity);
        plan.reduced.for_each([&](const std::array<int64_t, 1>& at) {
          value = reduce_row<R>(first + at[0], plan.inner, value);
        });
        return value;
      });
    }
    if (filled == kColumnTile) store_filled();
  });
  if (waiting > 0) reduce_waiting();
  store_filled();
}

}  // namespace detail

/// Reduces x over `axes`; calls store(first output, values, count) for runs of outputs in order.
template <typename R, typename T, typename Store>
void reduce_loop(const T* x, const Dims& dims, AxisSet axes, Store&& store) {
  const ReducePlan plan(dims, axes);
  if (plan.along_rows) return detail::reduce_rows<R>(x, plan, store);
  typename R::Acc values[detail::kColumnTile];
  int64_t done = 0;
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

/// out[i] = finish(the elements of output i joined), where the outputs are what `axes` leaves.
template <typename R, typename T, typename Out, typename Finish>
void reduce(const CpuContext&, const T* x, const Dims& dims, AxisSet axes, Out* out,
            const Finish& finish) {
  reduce_loop<R>(x, dims, axes, [&](int64_t first, const typename R::Acc* values, int64_t n) {
    for (int64_t i = 0; i < n; ++i) out[first + i] = finish(values[i]);
  });
}

}  // namespace phi
