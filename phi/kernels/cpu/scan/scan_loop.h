// The loops of scans along the lines of an array; adjacent lines are scanned together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "phi/kernels/cpu/axis_view.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/functors/scan.h"

namespace phi {

namespace detail {

inline constexpr int64_t kScanTile = 256;  // lines per tile

/// Adjacent lines of n elements, scanned together. `step` is the stride within a line; it is
/// negative for scans from the last element.
struct ScanColumns {
  int64_t n;
  int64_t step;
  int64_t width;
  int64_t at(int64_t line) const { return line; }
};

/// Lines with contiguous elements; lines are `apart` elements apart.
template <int64_t kWidth>
struct ScanRows {
  int64_t n;
  int64_t step;
  static constexpr int64_t width = kWidth;
  int64_t apart;
  int64_t at(int64_t line) const { return line * apart; }
};

/// Elements of integer sums wait for a single step, so scanning rows together gains nothing, and
/// rows that are a power of 2 apart compete for the same cache lines.
template <typename Scan>
inline constexpr bool kIsSumOfIntegers = false;
template <typename T>
inline constexpr bool kIsSumOfIntegers<SumScan<T>> = std::is_integral_v<T>;

/// Calls f(offset of the first element, ScanColumns or ScanRows) for all lines of the view.
/// kScanRows rows are scanned together, because each element of a row waits for the previous one.
/// All arrays together must not have more than eight rows at a time, which may share the same lines
/// of the first-level cache.
template <int64_t kScanRows, typename F>
void for_each_scan(const AxisView& view, F f) {
  if (view.inner > 1) {
    return view.for_each_block(kScanTile, [&](int64_t start, int64_t width) {
      f(start, ScanColumns{view.n, view.inner, width});
    });
  }
  int64_t row = 0;
  for (; row + kScanRows <= view.outer; row += kScanRows) {
    f(row * view.n, ScanRows<kScanRows>{view.n, 1, view.n});
  }
  for (; row < view.outer; ++row) f(row * view.n, ScanRows<1>{view.n, 1, view.n});
}

template <typename Lines>
inline constexpr bool kIsRows = !std::is_same_v<Lines, ScanColumns>;

/// Scans lines of half-precision floats in float: a block of each row at a time, or an element of
/// each column. f(block, lines in the block, position of their first element) replaces the block by
/// results.
template <typename T, typename Lines, typename F>
void scan_converted(const T* x, const Lines& lines, bool reverse, T* out, F f) {
  if constexpr (kIsRows<Lines>) {
    float block[Lines::width * kConvertBlock];
    for (int64_t done = 0; done < lines.n; done += kConvertBlock) {
      const int64_t count = std::min(kConvertBlock, lines.n - done);
      const int64_t first = reverse ? lines.n - done - count : done;
      for (int64_t row = 0; row < lines.width; ++row) {
        convert(x + lines.at(row) + first, block + row * kConvertBlock, count);
      }
      f(block, Lines{count, 1, kConvertBlock}, first);
      for (int64_t row = 0; row < lines.width; ++row) {
        convert(block + row * kConvertBlock, out + lines.at(row) + first, count);
      }
    }
  } else {
    float block[kScanTile];
    for (int64_t done = 0; done < lines.n; ++done) {
      const int64_t k = reverse ? lines.n - 1 - done : done;
      convert(x + k * lines.step, block, lines.width);
      f(block, ScanColumns{1, 0, lines.width}, k);
      convert(block, out + k * lines.step, lines.width);
    }
  }
}

template <typename Scan, typename T, typename Lines>
void scan_lines(const T* x, Lines lines, bool exclusive, bool reverse, typename Scan::State* states,
                T* out) {
  if (reverse) {
    x += (lines.n - 1) * lines.step;
    out += (lines.n - 1) * lines.step;
    lines.step = -lines.step;
  }
  for (int64_t k = 0; k < lines.n; ++k) {
    const T* from = x + k * lines.step;
    T* to = out + k * lines.step;
#pragma GCC ivdep
    for (int64_t line = 0; line < lines.width; ++line) {
      const int64_t at = lines.at(line);
      const auto joined = Scan::join(states[line], static_cast<compute_t<T>>(from[at]));
      to[at] = static_cast<T>(Scan::value(exclusive ? states[line] : joined));
      states[line] = joined;
    }
  }
}

/// Scans elements from position `first` of the lines on. `best` and `places` are the state of each
/// line.
template <typename T, typename C, typename Index, typename Lines, typename Takes>
void scan_best_lines(const T* x, const Lines lines, int64_t first, Takes takes, C* __restrict best,
                     Index* __restrict places, T* out, Index* index, const Lines index_lines) {
  for (int64_t k = 0; k < lines.n; ++k) {
    const int64_t row = k * lines.step;
#pragma GCC ivdep
    for (int64_t line = 0; line < lines.width; ++line) {
      const int64_t at = row + lines.at(line);
      const C value = static_cast<C>(x[at]);
      const bool better = first + k == 0 || takes(value, best[line]);
      best[line] = better ? value : best[line];
      places[line] = better ? static_cast<Index>(first + k) : places[line];
      out[at] = static_cast<T>(best[line]);
      index[row + index_lines.at(line)] = places[line];
    }
  }
}

}  // namespace detail

/// Sets out[k] to the join of a line's elements up to k (with `reverse`, from k on), without k
/// itself if `exclusive`. `out` may be x.
template <typename Scan, typename T>
void scan_loop(const T* x, const AxisView& view, bool exclusive, bool reverse, T* out) {
  if (view.n == 0) return;
  constexpr int64_t kRows = detail::kIsSumOfIntegers<Scan> ? 1 : 4;
  detail::for_each_scan<kRows>(view, [=](int64_t start, const auto& lines) {
    typename Scan::State states[detail::kScanTile];
    std::fill_n(states, lines.width, Scan::start());
    if constexpr (kIs16Bit<T>) {
      detail::scan_converted(
          x + start, lines, reverse, out + start, [&](float* block, const auto& part, int64_t) {
            detail::scan_lines<Scan, float>(block, part, exclusive, reverse, states, block);
          });
    } else {
      detail::scan_lines<Scan, T>(x + start, lines, exclusive, reverse, states, out + start);
    }
  });
}

/// Sets out[k] to the last element up to k for which `takes(x, best so far)` returned true, and
/// index[k] to its position.
template <typename Takes, typename T, typename Index>
void scan_best_loop(const T* x, const AxisView& view, Takes takes, T* out, Index* index) {
  using C = compute_t<T>;
  detail::for_each_scan<2>(view, [=](int64_t start, const auto lines) {
    C best[detail::kScanTile];
    Index places[detail::kScanTile];
    // g++ vectorises columns of bfloat16 without a conversion.
    if constexpr (kIs16Bit<T> && (detail::kIsRows<std::decay_t<decltype(lines)>> ||
                                  !std::is_same_v<T, bfloat16>)) {
      detail::scan_converted(
          x + start, lines, false, out + start, [&](float* block, const auto& part, int64_t first) {
            detail::scan_best_lines(block, part, first, takes, best, places, block,
                                    index + start + first * lines.step, lines);
          });
    } else {
      detail::scan_best_lines(x + start, lines, 0, takes, best, places, out + start, index + start,
                              lines);
    }
  });
}

}  // namespace phi
