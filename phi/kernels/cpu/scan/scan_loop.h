// The loop of scans: down the lines of an array, neighbouring ones together.
#pragma once

#include <algorithm>
#include <cstdint>

#include "phi/kernels/cpu/axis_view.h"
#include "phi/kernels/functors/hd.h"

namespace phi {

namespace detail {

inline constexpr int64_t kScanTile = 256;  // lines at a time

/// Neighbouring lines of n elements, scanned together. `step`: from an element to the next of its
/// line; negative for scans from the last one.
struct Columns {
  int64_t n;
  int64_t step;
  int64_t width;
  int64_t at(int64_t line) const { return line; }
};

/// Lines whose elements lie beside each other, one line `apart` from the next.
template <int64_t kWidth>
struct Rows {
  int64_t n;
  int64_t step;
  static constexpr int64_t width = kWidth;
  int64_t apart;
  int64_t at(int64_t line) const { return line * apart; }
};

/// Calls f(offset of the first element, Columns or Rows) for all lines of the view. kScanRows rows
/// at a time, as a row's elements wait for each other; of all arrays together no more than eight
/// rows, which may lie so that they share the lines of a first cache.
template <int64_t kScanRows, typename F>
void for_each_scan(const AxisView& view, F f) {
  if (view.inner > 1) {
    return view.for_each_block(kScanTile, [&](int64_t start, int64_t width) {
      f(start, Columns{view.n, view.inner, width});
    });
  }
  int64_t row = 0;
  for (; row + kScanRows <= view.outer; row += kScanRows) {
    f(row * view.n, Rows<kScanRows>{view.n, 1, view.n});
  }
  for (; row < view.outer; ++row) f(row * view.n, Rows<1>{view.n, 1, view.n});
}

template <typename Scan, typename T, typename Lines>
void scan_lines(const T* x, const Lines lines, bool exclusive, T* out) {
  typename Scan::State states[kScanTile];
  std::fill_n(states, lines.width, Scan::start());
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

}  // namespace detail

/// out[k] = the elements of a line up to k (with `reverse` from k on) joined, without k itself if
/// `exclusive`. `out` may be x.
template <typename Scan, typename T>
void scan_loop(const T* x, const AxisView& view, bool exclusive, bool reverse, T* out) {
  if (view.n == 0) return;
  detail::for_each_scan<4>(view, [=](int64_t start, auto lines) {
    if (reverse) {
      start += (lines.n - 1) * lines.step;
      lines.step = -lines.step;
    }
    detail::scan_lines<Scan>(x + start, lines, exclusive, out + start);
  });
}

/// out[k] = the last element up to k for which `takes(x, best so far)` held, index[k] its place.
template <typename Takes, typename T, typename Index>
void scan_best_loop(const T* x, const AxisView& view, Takes takes, T* out, Index* index) {
  using C = compute_t<T>;
  detail::for_each_scan<2>(view, [=](int64_t start, const auto lines) {
    C best[detail::kScanTile];
    Index places[detail::kScanTile];
    for (int64_t k = 0; k < lines.n; ++k) {
      const int64_t row = start + k * lines.step;
      for (int64_t line = 0; line < lines.width; ++line) {
        const int64_t at = row + lines.at(line);
        const C value = static_cast<C>(x[at]);
        const bool better = k == 0 || takes(value, best[line]);
        best[line] = better ? value : best[line];
        places[line] = better ? static_cast<Index>(k) : places[line];
        out[at] = static_cast<T>(best[line]);
        index[at] = places[line];
      }
    }
  });
}

}  // namespace phi
