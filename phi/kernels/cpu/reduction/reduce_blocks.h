// The loops of a reducer over blocks of elements, the only part of a reduction that is compiled per
// reducer. Elements are joined in the same order on every machine and in every version of the
// loops.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/functors/reduce.h"

namespace phi::detail {

inline constexpr int64_t kReduceBlock = 1024;  // floats per carry at most
inline constexpr int kReduceLanes = 32;        // independent values of a block

/// Number of blocks that are reduced side by side, because each addition waits for the previous one
/// of its block. With one block g++ 12 keeps lanes of doubles in memory; more than two blocks of
/// floats do not fit into registers.
template <typename R>
inline constexpr int kAbreast = std::is_integral_v<typename R::value_type> ? 1 : 2;

/// A reducer that has a faster join for numbers without NaN. The sum of the elements is NaN if one
/// of them is.
template <typename R>
concept JoinsNumbers = std::is_floating_point_v<typename R::value_type> &&
    requires(typename R::value_type a) {
  R::join_numbers(a, a);
};

/// Joins the elements of each block k by `join` into values[k], for as many whole rows of lanes as
/// n has, at least one. Calls look(i) before elements from i on are joined.
template <typename R, int kCount, typename C, typename Join, typename Look>
inline void join_lanes(const C* const (&x)[kCount], int64_t n, Join join, Look look,
                       typename R::value_type* values) {
  typename R::value_type lanes[kCount][kReduceLanes];
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

/// join_lanes by R::join_numbers. Returns false if there may be a NaN, that is, if the sum of all
/// elements is NaN, which infinities of both signs cause too.
template <typename R, int kCount, typename C>
inline bool join_numbers(const C* const (&x)[kCount], int64_t n, typename R::value_type* values) {
  using Lane = typename R::value_type;
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

/// Joins the n elements of each block k into values[k]. Integers may be joined in any order, and
/// compilers vectorise their loop.
template <typename R, int kCount, typename C>
inline void reduce_blocks(const C* const (&x)[kCount], int64_t n, typename R::value_type* values) {
  using Lane = typename R::value_type;
  if constexpr (std::is_integral_v<Lane>) {
    for (int k = 0; k < kCount; ++k) {
      Lane value = R::kIdentity;
      for (int64_t i = 0; i < n; ++i) value = R::join(value, lift<R>(x[k][i]));
      values[k] = value;
    }
    return;
  }
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

/// reduce_blocks for the next kCount blocks.
template <typename R, int kCount, typename C>
inline void reduce_next(const C* const* x, int64_t n, typename R::value_type* values) {
  const C* blocks[kCount];
  std::copy_n(x, kCount, blocks);
  reduce_blocks<R>(blocks, n, values);
}

/// R::join, for numbers as a bitwise select. If a lane may keep its value, g++ omits its store and,
/// without AVX-512, does not vectorise the loop.
template <typename R>
inline typename R::value_type join_stored(typename R::value_type a, typename R::value_type b) {
  using Lane = typename R::value_type;
  if constexpr (JoinsNumbers<R>) {
    using Bits = std::conditional_t<sizeof(Lane) == 8, uint64_t, uint32_t>;
    const Bits nan = a != a ? ~Bits(0) : Bits(0);
    const Lane joined = R::join_numbers(a, b);  // b where either is NaN
    return std::bit_cast<Lane>((std::bit_cast<Bits>(a) & nan) |
                               (std::bit_cast<Bits>(joined) & ~nan));
  } else {
    return R::join(a, b);
  }
}

/// Joins element c of each of kCount rows, in their order, to lanes[c].
template <typename R, int kCount, typename C>
inline void join_next_rows(const C* const* rows, int64_t n, typename R::value_type* lanes) {
  const C* row[kCount];
  std::copy_n(rows, kCount, row);
#pragma GCC ivdep
  for (int64_t c = 0; c < n; ++c) {
    typename R::value_type lane = lanes[c];
    for (int r = 0; r < kCount; ++r) lane = join_stored<R>(lane, lift<R>(row[r][c]));
    lanes[c] = lane;
  }
}

/// A reducer's loops over elements of C, as function pointers.
template <typename C, typename Lane, typename Acc>
struct ReduceFunctions {
  Lane identity;
  int abreast;  // number of blocks that join_blocks processes side by side
  /// Joins the n elements of x[k] into values[k], for each of `count` blocks.
  void (*join_blocks)(const C* const* x, int64_t count, int64_t n, Lane* values);
  /// Joins element c of each of `count` rows, in their order, to lanes[c].
  void (*join_rows)(const C* const* rows, int64_t count, int64_t n, Lane* lanes);
  /// Joins lanes[i] to values[i] and resets lanes[i] to the identity.
  void (*carry)(Lane* lanes, int64_t n, Acc* values);
  /// Returns `value` joined with the n elements of `from`, in their order.
  Acc (*carry_all)(Acc value, const Lane* from, int64_t n);
};

template <typename R, typename C>
ReduceFunctions<C, typename R::value_type, typename R::State> reduce_functions() {
  using Lane = typename R::value_type;
  using Acc = typename R::State;
  constexpr bool kFloats = std::is_same_v<C, bool> || std::is_same_v<C, bfloat16>;
  using Form = std::conditional_t<kFloats, float, C>;  // bool and bfloat16 have it, too
  // Rows that are read together, so that lanes are loaded and stored once for all of them. Joins
  // that test for NaN would wait for each other.
  constexpr int kTogether = JoinsNumbers<R> ? 1 : 4;
  const auto join_blocks = [](const C* const* x, int64_t count, int64_t n, Lane* values) {
    run_best_isa<Form>([=] {
      int64_t k = 0;
      for (; k + kAbreast<R> <= count; k += kAbreast<R>)
        reduce_next<R, kAbreast<R>>(x + k, n, values + k);
      if constexpr (kAbreast < R >> 1) {
        for (; k < count; ++k) reduce_next<R, 1>(x + k, n, values + k);
      }
    });
  };
  const auto join_rows = [](const C* const* rows, int64_t count, int64_t n, Lane* lanes) {
    run_best_isa<Form>([=] {
      int64_t r = 0;
      for (; r + kTogether <= count; r += kTogether)
        join_next_rows<R, kTogether>(rows + r, n, lanes);
      if constexpr (kTogether > 1) {
        for (; r < count; ++r) join_next_rows<R, 1>(rows + r, n, lanes);
      }
    });
  };
  const auto carry = [](Lane* lanes, int64_t n, Acc* values) {
    run_best_isa<Form>([=] {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        if constexpr (JoinsNumbers<R>) {
          values[i] = join_stored<R>(values[i], lanes[i]);
        } else {
          values[i] = R::carry(values[i], lanes[i]);
        }
        lanes[i] = R::kIdentity;
      }
    });
  };
  const auto carry_all = [](Acc value, const Lane* from, int64_t n) {
    for (int64_t i = 0; i < n; ++i) value = R::carry(value, from[i]);
    return value;
  };
  return {R::kIdentity, kAbreast<R>, join_blocks, join_rows, carry, carry_all};
}

/// The reducer that computes like R on widened elements instead of 16-bit floats.
template <typename R>
struct WidenedReducer {
  using type = R;
};
template <template <typename> typename R, typename T>
struct WidenedReducer<R<T>> {
  using type = R<compute_t<T>>;
};

}  // namespace phi::detail
