// Where kernels go wrong that are right elsewhere: one list of rare values, extents, ids, masks and
// head groupings that the tests of every family draw from, and comparisons in which NaN is NaN.
//
//   for (double x : rare_floats<float16>()) expect_steps<float16>(run(x), std::exp(x), 2, "exp");
//   for (int64_t n : extents_around(kTile)) check(n);
//   for (int64_t at : places_in_row(n)) check_nan_at(at, n);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "phi/common/dtype.h"

namespace phi::testing {

// ---- numbers ----

/// What a floating dtype can hold.
struct FloatFormat {
  double subnormal;  // the smallest
  double normal;     // the smallest
  double largest;
  double epsilon;  // from 1 to the next
  double root;     // a power of two whose square overflows
};

template <typename T>
constexpr FloatFormat float_format() {
  if constexpr (std::is_same_v<T, float16>) {
    return {0x1p-24, 0x1p-14, 65504, 0x1p-10, 0x1p8};
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return {0x1p-133, 0x1p-126, 0x1.fep127, 0x1p-7, 0x1p64};
  } else {
    using Limits = std::numeric_limits<T>;
    return {Limits::denorm_min(), Limits::min(), Limits::max(), Limits::epsilon(),
            std::is_same_v<T, double> ? 0x1p512 : 0x1p64};
  }
}

/// NaN, infinities, zeros, the ends of T's normal and subnormal range, numbers whose sums, squares
/// and products overflow, vanish or cancel, and numbers that lie half way between two of a narrower
/// dtype (its overflow included). Each is exactly a T.
template <typename T>
std::vector<double> rare_floats() {
  constexpr FloatFormat f = float_format<T>();
  std::vector<double> magnitudes = {0,
                                    f.subnormal,
                                    f.normal - f.subnormal,
                                    f.normal,
                                    f.epsilon,
                                    0.5,
                                    1 - f.epsilon / 2,
                                    1,
                                    1 + f.epsilon,
                                    3,
                                    14.5,
                                    100,
                                    f.root,
                                    f.largest / 2,
                                    f.largest,
                                    INFINITY};
  if constexpr (sizeof(T) >= 4) {
    // Half way in bfloat16 and float16, beyond float16, and half way to 0 there.
    for (double m : {1 + 0x1p-8, 1 + 3 * 0x1p-8, 1 + 0x1p-11, 1 + 3 * 0x1p-11, 65519.0, 65520.0,
                     131071.0, 260000.0, 0x1.ffp127, 0x1p-25, 3 * 0x1p-25, 0x1p-149}) {
      magnitudes.push_back(m);
    }
  }
  if constexpr (sizeof(T) == 8) {
    // The same towards float, and integers that float64 is the last to hold.
    for (double m : {1 + 0x1p-24, 1 + 3 * 0x1p-24, 0x1.ffffffp127, 1e300, 0x1p-150, 0x1p-1000,
                     2147483648.0, 9007199254740992.0, 0x1p63}) {
      magnitudes.push_back(m);
    }
  }
  std::vector<double> out = {NAN};
  for (double m : magnitudes) {
    out.push_back(m);
    out.push_back(-m);
  }
  return out;
}

/// The ends of T, their neighbours, -1, 0, 1, 2^31 and 2^53 + 1 (which no double holds): those that
/// T holds.
template <typename T>
std::vector<T> rare_integers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> out = {Limits::min(),
                        static_cast<T>(Limits::min() + 1),
                        0,
                        1,
                        2,
                        3,
                        static_cast<T>(Limits::max() - 1),
                        Limits::max()};
  for (int64_t v : {int64_t{-1}, int64_t{-2}, int64_t{255}, int64_t{65536}, int64_t{2147483647},
                    int64_t{2147483648}, int64_t{-2147483649}, int64_t{9007199254740993}}) {
    if (std::in_range<T>(v)) out.push_back(static_cast<T>(v));
  }
  return out;
}

/// Rare numbers of any dtype.
template <typename T>
std::vector<T> rare_numbers() {
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_integral_v<T>) {
    return rare_integers<T>();
  } else {
    std::vector<T> out;
    for (double v : rare_floats<T>()) {
      if constexpr (std::is_same_v<T, double>) {
        out.push_back(v);
      } else {
        out.push_back(T(static_cast<float>(v)));
      }
    }
    return out;
  }
}

// ---- extents and places ----

/// 0, 1, and what lies around one and two steps of a loop (vector lanes, blocks, tiles).
inline std::vector<int64_t> extents_around(int64_t step) {
  return {0, 1, step - 1, step, step + 1, 2 * step - 1, 2 * step, 2 * step + 1};
}

/// First, last, middle, and both sides of the ends of vector registers (8, 16, 32 lanes) and of the
/// blocks that kernels work in (64, 256, 1024): where one odd element of a row of `n` may lie.
inline std::vector<int64_t> places_in_row(int64_t n) {
  std::vector<int64_t> places;
  for (int64_t at : {int64_t{0}, int64_t{1}, int64_t{7}, int64_t{8}, int64_t{15}, int64_t{16},
                     int64_t{31}, int64_t{32}, int64_t{33}, int64_t{63}, int64_t{64}, int64_t{255},
                     int64_t{256}, int64_t{1023}, int64_t{1024}, n / 2, n - 2, n - 1}) {
    if (at >= 0 && at < n) places.push_back(at);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

// ---- ids ----

/// First, last, middle, and one twice.
inline std::vector<double> legal_ids(int64_t extent) {
  const auto last = static_cast<double>(extent - 1);
  const int64_t middle = extent / 2;
  return {0, last, static_cast<double>(middle), last};
}

/// One past the last, one before the first, and the ends of the id's type.
template <typename Id>
std::vector<Id> illegal_ids(int64_t extent) {
  return {static_cast<Id>(extent), Id{-1}, std::numeric_limits<Id>::min(),
          std::numeric_limits<Id>::max()};
}

// ---- masks and heads ----

/// Which elements of [rows, columns] are hidden.
struct RareMask {
  std::string name;
  std::vector<bool> hidden;
};

inline std::vector<RareMask> rare_masks(int64_t rows, int64_t columns) {
  const auto make = [&](const char* name, auto hides) {
    RareMask mask{name, {}};
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) mask.hidden.push_back(hides(r, c));
    }
    return mask;
  };
  return {make("none", [](int64_t, int64_t) { return false; }),
          make("first row", [](int64_t r, int64_t) { return r == 0; }),
          make("last row", [=](int64_t r, int64_t) { return r == rows - 1; }),
          make("all rows", [](int64_t, int64_t) { return true; }),
          make("all rows but one", [=](int64_t r, int64_t) { return r != rows / 2; }),
          make("all but one element",
               [=](int64_t r, int64_t c) { return r != rows / 2 || c != columns - 1; }),
          make("first column", [](int64_t, int64_t c) { return c == 0; }),
          make("all columns but the last", [=](int64_t, int64_t c) { return c != columns - 1; })};
}

/// Query heads and the key heads that they share.
struct HeadGrouping {
  int64_t heads;
  int64_t kv_heads;
};
/// One head, as many of both, one key head for all, and key heads that 2, 3 or 4 ranks do not
/// divide.
inline constexpr HeadGrouping kRareHeads[] = {{1, 1}, {3, 3}, {4, 1}, {5, 1}, {6, 3}, {6, 2}};

// ---- comparisons ----

/// Equal, or both NaN. Zeros of either sign are equal.
inline bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Whether `got` is `expected` rounded to T, give or take `steps` of T's last place: NaN for NaN,
/// an infinity for what lies beyond T.
template <typename T>
bool within_steps(double got, double expected, double steps) {
  constexpr FloatFormat f = float_format<T>();
  if (same_number(got, expected)) return true;
  if (std::isnan(got) || std::isnan(expected)) return false;
  const double allowed = steps * std::max(std::abs(expected) * f.epsilon, f.subnormal);
  if (std::isinf(got)) {
    return std::signbit(got) == std::signbit(expected) &&
           std::abs(expected) * (1 + steps * f.epsilon) > f.largest;
  }
  return std::abs(got - expected) <= allowed;
}

template <typename T>
void expect_steps(double got, double expected, double steps, const std::string& what) {
  EXPECT_TRUE(within_steps<T>(got, expected, steps))
      << what << " in " << name_of(dtype_of<T>()) << ": got " << ::testing::PrintToString(got)
      << ", expected " << ::testing::PrintToString(expected);
}

}  // namespace phi::testing
