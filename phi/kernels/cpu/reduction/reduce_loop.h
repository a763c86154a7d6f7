// Reductions along contiguous rows, or down the columns of a matrix, within any nest of outer
// tensor dims.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "phi/common/dims.h"
#include "phi/core/device/device_context.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/reduction/reduce_blocks.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/strided_walk.h"

namespace phi {

/// The loops of a reduction: kept and reduced tensor dims separately, adjacent ones of a kind
/// merged.
struct ReducePlan {
  ReducePlan(const Dims& dims, AxisSet reduced_axes) {
    const Dims strides = dims.strides();
    bool last_is_reduced = false;
    for (int d = 0; d < dims.ndim(); ++d) {
      if (dims[d] == 1) continue;
      last_is_reduced = reduced_axes.has(d);
      (last_is_reduced ? reduced : kept).append(dims[d], {strides[d]});
    }
    // The innermost tensor dim is contiguous. It is removed here and becomes the `inner` loop
    // below.
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
  bool along_rows = true;  // whether the inner loop is reduced; otherwise it is kept
};

namespace detail {

inline constexpr int64_t kColumnTile = 1024;  // floats per row of a tile: one page
inline constexpr int64_t kRowsPerCarry = 32;
inline constexpr int64_t kBlockBatch = 64;  // blocks or short rows per call of the reducer

/// Receives results in order: store(number of the first, values, count).
template <typename Acc>
struct StoreFunction {
  void (*run)(const void* store, int64_t first, Acc* values, int64_t count);
  const void* store;
  void operator()(int64_t first, Acc* values, int64_t count) const {
    run(store, first, values, count);
  }
};

/// Elements of a block. Integers need no carry, so their blocks have any length.
template <typename T, typename Lane>
inline constexpr int64_t kBlockLength =
    std::is_integral_v<Lane> && !kIs16Bit<T> ? std::numeric_limits<int64_t>::max() : kReduceBlock;

/// Joins the n elements of each x[k], at most a block, into values[k].
template <typename T, typename Lane, typename Acc>
void join_blocks(const T* const* x, int64_t count, int64_t n,
                 const ReduceFunctions<read_t<T>, Lane, Acc>& f, Lane* values) {
  if constexpr (!std::is_same_v<T, read_t<T>>) {
    constexpr int64_t kTogether = 2;
    float buffer[kTogether][kReduceBlock];
    const float* blocks[kTogether] = {buffer[0], buffer[1]};
    for (int64_t k = 0; k < count; k += kTogether) {
      const int64_t some = std::min(kTogether, count - k);
      for (int64_t b = 0; b < some; ++b) convert(x[k + b], buffer[b], n);
      f.join_blocks(blocks, some, n, values + k);
    }
  } else {
    f.join_blocks(x, count, n, values);
  }
}

/// Returns `value` joined with the n elements of a row of any length.
template <typename T, typename Lane, typename Acc>
Acc reduce_row(const T* x, int64_t n, Acc value, const ReduceFunctions<read_t<T>, Lane, Acc>& f) {
  const T* blocks[kBlockBatch];
  Lane joined[kBlockBatch];
  while (n > 0) {
    const int64_t length = std::min(kBlockLength<T, Lane>, n);
    const int64_t count = std::min(kBlockBatch, n / length);
    for (int64_t k = 0; k < count; ++k) blocks[k] = x + k * length;
    join_blocks(blocks, count, length, f, joined);
    value = f.carry_all(value, joined, count);
    x += count * length;
    n -= count * length;
  }
  return value;
}

/// Joins the rows of a tile of columns into one row of values.
template <typename T, typename Lane, typename Acc>
class ColumnReduction {
 public:
  using C = read_t<T>;
  explicit ColumnReduction(const ReduceFunctions<C, Lane, Acc>& f) : f_(f) {}

  /// Reduces `n` columns; `rows` walks over their rows.
  void run(const T* x, const StridedWalk<1>& rows, int64_t n, Acc* values) {
    std::fill_n(values, n, Acc(f_.identity));
    std::fill_n(lanes_, n, f_.identity);
    const T* found[kRowsPerCarry];
    int64_t pending = 0;
    rows.for_each([&](const std::array<int64_t, 1>& at) {
      found[pending] = x + at[0];
      if (++pending == kRowsPerCarry) {
        join_and_carry(found, pending, n, values);
        pending = 0;
      }
    });
    if (pending > 0) join_and_carry(found, pending, n, values);
  }

 private:
  void join_and_carry(const T* const* rows, int64_t count, int64_t n, Acc* values) {
    if constexpr (!std::is_same_v<T, read_t<T>>) {
      constexpr int64_t kTogether = 4;
      float buffer[kTogether][kColumnTile];
      const float* widened[kTogether] = {buffer[0], buffer[1], buffer[2], buffer[3]};
      for (int64_t r = 0; r < count; r += kTogether) {
        const int64_t some = std::min(kTogether, count - r);
        for (int64_t b = 0; b < some; ++b) convert(rows[r + b], buffer[b], n);
        f_.join_rows(widened, some, n, lanes_);
      }
    } else {
      f_.join_rows(rows, count, n, lanes_);
    }
    f_.carry(lanes_, n, values);
  }

  const ReduceFunctions<C, Lane, Acc>& f_;
  Lane lanes_[kColumnTile];
};

/// Returns `value` joined with the rows of one output that has several; short rows in batches.
template <typename T, typename Lane, typename Acc>
Acc reduce_pieces(const T* x, const ReducePlan& plan, Acc value,
                  const ReduceFunctions<read_t<T>, Lane, Acc>& f) {
  const bool is_short = plan.inner <= kBlockLength<T, Lane>;
  Lane joined[kBlockBatch];
  const T* pieces[kBlockBatch];
  int64_t waiting = 0;
  const auto join_waiting = [&] {
    join_blocks(pieces, waiting, plan.inner, f, joined);
    value = f.carry_all(value, joined, waiting);
    waiting = 0;
  };
  plan.reduced.for_each([&](const std::array<int64_t, 1>& at) {
    if (!is_short) {
      value = reduce_row(x + at[0], plan.inner, value, f);
      return;
    }
    pieces[waiting] = x + at[0];
    if (++waiting == kBlockBatch) join_waiting();
  });
  if (waiting > 0) join_waiting();
  return value;
}

/// reduce_loop along rows; short rows in batches, others one by one.
template <typename T, typename Lane, typename Acc>
void reduce_rows(const T* x, const ReducePlan& plan, const ReduceFunctions<read_t<T>, Lane, Acc>& f,
                 const StoreFunction<Acc>& store) {
  const bool is_short = plan.reduced.ndim() == 0 && plan.inner <= kBlockLength<T, Lane>;
  Acc values[kColumnTile];
  Lane joined[kBlockBatch];
  const T* rows[kBlockBatch];
  int64_t done = 0;
  int64_t filled = 0;   // values
  int64_t waiting = 0;  // rows
  const auto reduce_waiting = [&] {
    join_blocks(rows, waiting, plan.inner, f, joined);
    f.carry(joined, waiting, values + filled);
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
      values[filled + waiting] = Acc(f.identity);
      rows[waiting] = x + kept[0];
      if (++waiting == kBlockBatch) reduce_waiting();
    } else {
      values[filled++] = reduce_pieces(x + kept[0], plan, Acc(f.identity), f);
    }
    if (filled == kColumnTile) store_filled();
  });
  if (waiting > 0) reduce_waiting();
  store_filled();
}

template <typename T, typename Lane, typename Acc>
void reduce_columns(const T* x, const ReducePlan& plan,
                    const ReduceFunctions<read_t<T>, Lane, Acc>& f,
                    const StoreFunction<Acc>& store) {
  Acc values[kColumnTile];
  int64_t done = 0;
  ColumnReduction<T, Lane, Acc> columns(f);
  plan.kept.for_each([&](const std::array<int64_t, 1>& kept) {
    for (int64_t c = 0; c < plan.inner; c += kColumnTile) {
      const int64_t count = std::min(kColumnTile, plan.inner - c);
      columns.run(x + kept[0] + c, plan.reduced, count, values);
      store(done, values, count);
      done += count;
    }
  });
}

template <typename T, typename Lane, typename Acc>
void reduce(const T* x, const Dims& dims, AxisSet axes,
            const ReduceFunctions<read_t<T>, Lane, Acc>& f, const StoreFunction<Acc>& store) {
  const ReducePlan plan(dims, axes);
  plan.along_rows ? reduce_rows(x, plan, f, store) : reduce_columns(x, plan, f, store);
}

/// Combinations of (element, lane, result) that several kernels use; they are instantiated once, in
/// reduce_loop.cc.
#define AUTOPHI_FOR_EACH_SHARED_REDUCTION(DO) \
  DO(double, double, double)                  \
  DO(float, float, float)                     \
  DO(float, float, double)                    \
  DO(float, double, double)                   \
  DO(float16, float, float)                   \
  DO(float16, float, double)                  \
  DO(float16, double, double)                 \
  DO(bfloat16, float, float)                  \
  DO(bfloat16, float, double)                 \
  DO(bfloat16, double, double)
#define AUTOPHI_SHARED_REDUCTION(T, Lane, Acc)                              \
  extern template void reduce(const T*, const Dims&, AxisSet,               \
                              const ReduceFunctions<read_t<T>, Lane, Acc>&, \
                              const StoreFunction<Acc>&);
AUTOPHI_FOR_EACH_SHARED_REDUCTION(AUTOPHI_SHARED_REDUCTION)
#undef AUTOPHI_SHARED_REDUCTION

}  // namespace detail

/// A store that writes runs of values, converted, to an array.
template <typename To>
class StoreTo {
 public:
  explicit StoreTo(To* out) : out_(out) {}
  template <typename Value>
  void operator()(int64_t first, const Value* values, int64_t count) const {
    convert(values, out_ + first, count);
  }

 private:
  To* out_;
};

/// Reduces x over `axes`. Calls store(first output, values, count) for runs of outputs, in order.
template <typename R, typename T, typename Store>
void reduce_loop(const T* x, const Dims& dims, AxisSet axes, const Store& store) {
  using Widened = typename detail::WidenedReducer<R>::type;
  using Acc = typename R::State;
  const auto run = [](const void* to, int64_t first, Acc* values, int64_t count) {
    (*static_cast<const Store*>(to))(first, values, count);
  };
  detail::reduce(x, dims, axes, detail::reduce_functions<Widened, read_t<T>>(),
                 detail::StoreFunction<Acc>{run, &store});
}

/// Sets out[i] = finish(joined elements of output i), converted. The outputs are what remains of
/// `dims` without `axes`.
template <typename R, typename T, typename Out, typename Finish>
void reduce(const CpuContext&, const T* x, const Dims& dims, AxisSet axes, Out* out,
            const Finish& finish) {
  using Acc = typename R::State;
  const StoreTo store(out);
  if constexpr (std::is_same_v<Finish, ConvertFunctor<Out>>) {
    reduce_loop<R>(x, dims, axes, store);
  } else {
    static_assert(std::is_same_v<std::invoke_result_t<Finish, Acc>, Acc>);
    reduce_loop<R>(x, dims, axes, [&](int64_t first, Acc* values, int64_t n) {
      for (int64_t i = 0; i < n; ++i) values[i] = finish(values[i]);
      store(first, values, n);
    });
  }
}

}  // namespace phi
