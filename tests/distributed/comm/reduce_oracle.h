// What a reduction over ranks means, element by element: for the tests of the arithmetic and of the
// collectives that use it. The numbers are rare ones, each rank's others.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "distributed/placement/placement.h"
#include "tests/support/rare_values.h"

namespace phi::distributed::testing {

inline constexpr ReduceKind kAllReduceKinds[] = {
    ReduceKind::kSum,  ReduceKind::kAvg, ReduceKind::kMax, ReduceKind::kMin,
    ReduceKind::kProd, ReduceKind::kAny, ReduceKind::kAll};

/// Rank `rank`'s part of elements among which every pair of rare numbers meets between the ranks 0
/// and 1, and every rare number somewhere on each other rank. The number of elements is pairs().
template <typename T>
class RareParts {
 public:
  int64_t pairs() const { return size() * size(); }
  T at(int64_t rank, int64_t element) const {
    const int64_t first = element % size();
    const int64_t second = element / size() % size();
    if (rank < 2) return list_[static_cast<size_t>(rank == 0 ? first : second)];
    return list_[static_cast<size_t>((3 * first + 5 * second + rank) % size())];
  }
  std::vector<T> part(int64_t rank, int64_t begin, int64_t count) const {
    std::vector<T> out;
    for (int64_t i = 0; i < count; ++i) out.push_back(at(rank, begin + i));
    return out;
  }

 private:
  int64_t size() const { return static_cast<int64_t>(list_.size()); }
  std::vector<T> list_ = phi::testing::rare_numbers<T>();
};

namespace detail {

/// The numbers that one element is reduced in: float for 16-bit floats; integers wrap around.
template <typename T>
using sum_t = std::conditional_t<std::is_integral_v<T>, uint64_t,
                                 std::conditional_t<std::is_same_v<T, double>, double, float>>;

template <typename T>
bool is_true(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value != T(0);
  } else {
    return static_cast<sum_t<T>>(value) != 0;  // NaN is
  }
}

template <typename T>
T back(sum_t<T> value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return T(value);
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
T extremum(const std::vector<T>& values, bool largest) {
  T best = values[0];
  for (T value : values) {
    if constexpr (!std::is_integral_v<T>) {
      if (std::isnan(static_cast<double>(value))) return value;
    }
    const bool better = largest ? best < value : value < best;
    if (better) best = value;
  }
  return best;
}

/// Of values whose sum is too large for Sum. Shares by a power of two are exact but for tiny
/// values.
template <typename T>
sum_t<T> mean_of_shares(const std::vector<T>& values) {
  const int exponent = static_cast<int>(std::ceil(std::log2(static_cast<double>(values.size()))));
  sum_t<T> total = 0;
  for (T v : values) total += std::ldexp(static_cast<sum_t<T>>(v), -exponent);
  return std::ldexp(total / static_cast<sum_t<T>>(values.size()), exponent);
}

}  // namespace detail

/// `values` reduced in their order: NaN wins, integers wrap around but in averages, any and all are
/// truths, and bool only knows these two.
template <typename T>
T reduced(ReduceKind kind, const std::vector<T>& values) {
  using Sum = detail::sum_t<T>;
  bool any = false, all = true;
  for (T v : values) {
    any = any || detail::is_true(v);
    all = all && detail::is_true(v);
  }
  const auto truth = [](bool b) { return static_cast<T>(static_cast<Sum>(b ? 1 : 0)); };
  if (kind == ReduceKind::kAny) return truth(any);
  if (kind == ReduceKind::kAll) return truth(all);
  if (kind == ReduceKind::kMax) return detail::extremum(values, true);
  if (kind == ReduceKind::kMin) return detail::extremum(values, false);
  if constexpr (std::is_same_v<T, bool>) {
    return kind == ReduceKind::kSum ? any : all;
  } else {
    Sum total = static_cast<Sum>(values[0]);
    for (size_t i = 1; i < values.size(); ++i) {
      if (kind == ReduceKind::kProd) {
        total *= static_cast<Sum>(values[i]);
      } else {
        total += static_cast<Sum>(values[i]);
      }
    }
    if (kind != ReduceKind::kAvg) return detail::back<T>(total);
    if constexpr (std::is_integral_v<T>) {  // exact, towards zero
      __extension__ __int128 exact = 0;
      for (T v : values) exact += static_cast<int64_t>(v);
      return static_cast<T>(exact / static_cast<int64_t>(values.size()));
    } else {
      if (!std::isfinite(total)) return detail::back<T>(detail::mean_of_shares(values));
      return detail::back<T>(total / static_cast<Sum>(values.size()));
    }
  }
}

/// Compares element `i` of a reduction over `ranks` ranks of RareParts.
template <typename T>
void expect_reduced(T got, const RareParts<T>& parts, int64_t ranks, int64_t i, ReduceKind kind) {
  std::vector<T> values;
  for (int64_t r = 0; r < ranks; ++r) values.push_back(parts.at(r, i));
  const T expected = reduced(kind, values);
  const auto number = [](T v) { return static_cast<double>(v); };
  const auto list = [&] {
    std::string of;
    for (T v : values) of += " " + std::to_string(number(v));
    return of;
  };
  ASSERT_TRUE(phi::testing::same_number(number(got), number(expected)))
      << name_of(kind) << " of" << list() << " in " << name_of(dtype_of<T>()) << " is "
      << number(got) << ", not " << number(expected);
}

}  // namespace phi::distributed::testing
