// Sums and maxima over one contiguous row, and readers and writers of rows, for kernels that work
// row by row. Independent lanes let the compiler vectorise without changing the order within a
// lane; they also shorten float sums.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/functors/fast/math.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

/// Folds lanes into one value by halves. Loops are not unrolled because g++ 12 does not vectorise
/// loops that it has unrolled. Works on a copy: an index computed at run time would keep `lanes`
/// out of registers.
template <int kLanes, typename C, typename Fold>
inline C fold_lanes(const C (&lanes)[kLanes], Fold fold) {
  static_assert(kLanes == 32);
  C half[16];
#pragma GCC unroll 1
  for (int lane = 0; lane < 16; ++lane) half[lane] = fold(lanes[lane], lanes[lane + 16]);
#pragma GCC unroll 1
  for (int lane = 0; lane < 8; ++lane) half[lane] = fold(half[lane], half[lane + 8]);
#pragma GCC unroll 1
  for (int lane = 0; lane < 4; ++lane) half[lane] = fold(half[lane], half[lane + 4]);
  return fold(fold(half[0], half[1]), fold(half[2], half[3]));
}

/// Returns, for each term, the sum of term(i) over 0 <= i < n. All sums are computed in one pass.
template <typename C, typename... Terms>
inline std::array<C, sizeof...(Terms)> row_sums(int64_t n, Terms... terms) {
  constexpr int kLanes = 32;
  std::array<C, sizeof...(Terms)> sums{};
  int64_t i = 0;
  if (n >= kLanes) {
    C lanes[sizeof...(Terms)][kLanes];
    // Lanes start with terms: code for baseline instructions clears memory at the cost of many
    // additions.
    const auto begin = [&](C* of, const auto& term) {
      for (int lane = 0; lane < kLanes; ++lane) of[lane] = C(0) + term(lane);
    };
    const auto add = [&](C* of, const auto& term) {
      for (int lane = 0; lane < kLanes; ++lane) of[lane] += term(i + lane);
    };
    const auto fold = [](const C(&of)[kLanes], const auto&) {
      return fold_lanes(of, [](C a, C b) { return a + b; });
    };
    size_t k = 0;
    (begin(lanes[k++], terms), ...);
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      k = 0;
      (add(lanes[k++], terms), ...);
    }
    k = 0;
    sums = {fold(lanes[k++], terms)...};
  }
  for (; i < n; ++i) {
    size_t k = 0;
    ((sums[k++] += terms(i)), ...);
  }
  return sums;
}

/// Returns the sum of term(i) over 0 <= i < n.
template <typename C, typename Term>
inline C row_sum(int64_t n, Term term) {
  return row_sums<C>(n, term)[0];
}

/// Returns the largest element that is not NaN, -inf if there is none. row_exp_sum is NaN for a row
/// with a NaN, whatever the shift.
template <typename C>
inline C row_max(const C* row, int64_t n) {
  constexpr int kLanes = 32;
  constexpr C kLowest = -std::numeric_limits<C>::infinity();
  const auto larger = [](C most, C x) { return x > most ? x : most; };
  C lanes[kLanes];
  std::fill_n(lanes, kLanes, kLowest);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = larger(lanes[lane], row[i + lane]);
  }
  C most = fold_lanes(lanes, larger);
  for (; i < n; ++i) most = larger(most, row[i]);
  return most;
}

/// Sets out[i] = exp(row[i] - shift), or 0 below exp(-87), and returns the sum of out. `shift` is
/// at least the row's maximum. `out` may be `row`.
template <typename C>
inline C row_exp_sum(const C* row, int64_t n, C shift, C* out) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = fast::exp_or_zero(row[i] - shift);
  return row_sum<C>(n, [out](int64_t i) { return out[i]; });
}

/// The element type that loops over arrays of T read. bfloat16 is widened in the loop, by a shift.
/// float16 is converted to float in blocks first, because g++ does not vectorise its conversion.
template <typename T>
using read_t = std::conditional_t<std::is_same_v<T, bfloat16>, T, compute_t<T>>;

/// Reads rows of n elements, `stride` elements apart, as numbers of C: in place if T is C,
/// otherwise from a buffer that the next call of row() overwrites.
template <typename T, typename C = compute_t<T>>
class RowReader {
 public:
  RowReader(const T* data, int64_t n) : RowReader(data, n, n) {}
  RowReader(const T* data, int64_t n, int64_t stride) : data_(data), n_(n), stride_(stride) {
    if constexpr (!std::is_same_v<T, C>) buffer_ = std::make_unique_for_overwrite<C[]>(n);
  }
  const C* row(int64_t r) {
    if constexpr (!std::is_same_v<T, C>) {
      convert(data_ + r * stride_, buffer_.get(), n_);
      return buffer_.get();
    } else {
      return data_ + r * stride_;
    }
  }

 private:
  const T* data_;
  int64_t n_;
  int64_t stride_;
  std::unique_ptr<C[]> buffer_;
};

/// Writes rows: row(r) returns where to compute row r, and done(r) stores it.
template <typename T>
class RowWriter {
 public:
  using C = compute_t<T>;
  RowWriter(T* data, int64_t n) : RowWriter(data, n, n) {}
  RowWriter(T* data, int64_t n, int64_t stride) : data_(data), n_(n), stride_(stride) {
    if constexpr (kIs16Bit<T>) buffer_ = std::make_unique_for_overwrite<C[]>(n);
  }
  C* row(int64_t r) {
    if constexpr (kIs16Bit<T>) {
      return buffer_.get();
    } else {
      return data_ + r * stride_;
    }
  }
  void done(int64_t r) {
    if constexpr (kIs16Bit<T>) convert(buffer_.get(), data_ + r * stride_, n_);
  }

 private:
  T* data_;
  int64_t n_;
  int64_t stride_;
  std::unique_ptr<C[]> buffer_;
};

/// A small array (scale, bias) in the compute type: `weight` itself if it has that dtype, otherwise
/// an owned copy.
template <typename C>
class ComputeArray {
 public:
  explicit ComputeArray(const DenseTensor* weight);
  /// Null if `weight` is null.
  const C* data() const { return data_; }

 private:
  const C* data_ = nullptr;
  std::unique_ptr<C[]> copy_;
};

}  // namespace phi
