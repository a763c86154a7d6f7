// The loops of pooling: sums (for averages and norms) and maxima of windows, and their gradients.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>

#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/cpu/windowed/pool_rows.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/windowed/pool_folds.h"

namespace phi {

/// Sets to[output] = fold.finish(joined terms of the window, number of elements that it counts).
template <typename T, typename Fold>
void pool_windows(const PoolImages& images, bool padded, const T* x, Fold fold, T* to) {
  using C = compute_t<T>;
  constexpr auto kStart = static_cast<C>(Fold::kStart);
  const int64_t width = images.row_size();
  const int64_t inner = images.inner;
  RowReader<T> rows(x, width);
  const auto folded = std::make_unique_for_overwrite<C[]>(width);
  const auto totals = std::make_unique_for_overwrite<C[]>(inner);
  RowWriter<T> results(to, images.output_row_size());
  for_each_output_row(images, [&](const OutputRow& out) {
    C* column = folded.get();
    std::fill_n(column, width, kStart);
    out.for_each_row([&](int64_t r, int64_t) {
      const C* row = rows.row(r);
#pragma GCC ivdep
      for (int64_t i = 0; i < width; ++i) column[i] = fold.join(column[i], fold.term(row[i]));
    });
    C* target = results.row(out.row);
    for (const PoolRange& along : images.ranges[2]) {
      const auto count = static_cast<C>(out.count(along, padded));
      if (inner == 1) {
        C total = kStart;
        for (int64_t i = along.begin; i < along.end; ++i) total = fold.join(total, column[i]);
        *target++ = fold.finish(total, count);
        continue;
      }
      C* total = totals.get();
      std::fill_n(total, inner, kStart);
      for (int64_t i = along.begin; i < along.end; ++i) {
        const C* from = column + i * inner;
        for (int64_t k = 0; k < inner; ++k) total[k] = fold.join(total[k], from[k]);
      }
      for (int64_t k = 0; k < inner; ++k) {
        *target++ = fold.finish(total[k], count);
      }
    }
    results.done(out.row);
  });
}

/// Sets to[element] = factor(element) times the sum of share(output) over the windows that contain
/// the element. share(offset of an output, number of elements that its window counts) is the share
/// of each element.
template <typename T, typename Share, typename Factor>
void pool_sums_grad(const PoolImages& images, bool padded, const T* x, Share share, Factor factor,
                    T* to) {
  using C = compute_t<T>;
  const int64_t width = images.row_size();
  const int64_t inner = images.inner;
  const int64_t image_size = images.image_size();
  RowReader<T> rows(x, width);
  const auto shares = std::make_unique_for_overwrite<C[]>(width);
  const auto image = std::make_unique_for_overwrite<C[]>(image_size);
  const int64_t output_size = images.windows(0) * images.windows(1) * images.output_row_size();
  std::fill_n(image.get(), image_size, C(0));
  for_each_output_row(images, [&](const OutputRow& out) {
    C* row_shares = shares.get();
    std::fill_n(row_shares, width, C(0));
    int64_t output = out.output();
    for (const PoolRange& along : images.ranges[2]) {
      const auto count = static_cast<C>(out.count(along, padded));
      for (int64_t k = 0; k < inner; ++k) {
        const C each = share(output++, count);
        for (int64_t i = along.begin; i < along.end; ++i) row_shares[i * inner + k] += each;
      }
    }
    out.for_each_row([&](int64_t r, int64_t row_of_image) {
      const C* row = rows.row(r);
      C* target = image.get() + row_of_image * width;
#pragma GCC ivdep
      for (int64_t i = 0; i < width; ++i) target[i] += row_shares[i] * factor(row[i]);
    });
    const bool is_last = (out.output() + images.output_row_size()) % output_size == 0;
    if (!is_last) return;
    convert(image.get(), to + out.image * image_size, image_size);
    std::fill_n(image.get(), image_size, C(0));
  });
}

/// Calls give(offset of an output, maximum of its window, position of the maximum) for all windows.
/// Positions count through the flattened spatial dims of an image. A window without elements has
/// position -1 and the lowest value.
template <typename T, typename Give>
void pool_maxima(const PoolImages& images, const T* x, Give give) {
  using C = compute_t<T>;
  const int64_t width = images.row_size();
  const int64_t inner = images.inner;
  RowReader<T> rows(x, width);
  const auto most_of = std::make_unique_for_overwrite<C[]>(width);
  const auto row_of = std::make_unique_for_overwrite<int32_t[]>(width);
  for_each_output_row(images, [&](const OutputRow& out) {
    C* most = most_of.get();
    int32_t* where = row_of.get();
    bool is_first = true;
    out.for_each_row([&](int64_t r, int64_t row) {
      const C* from = rows.row(r);
      const auto number = static_cast<int32_t>(row);
      if (is_first) {
        std::copy_n(from, width, most);
        std::fill_n(where, width, number);
        is_first = false;
        return;
      }
#pragma GCC ivdep
      for (int64_t i = 0; i < width; ++i) {
        const bool larger = is_larger(from[i], most[i]);
        most[i] = larger ? from[i] : most[i];
        where[i] = larger ? number : where[i];
      }
    });
    int64_t output = out.output();
    for (const PoolRange& along : images.ranges[2]) {
      for (int64_t k = 0; k < inner; ++k, ++output) {
        if (out.is_empty() || along.begin == along.end) {
          give(output, std::numeric_limits<C>::lowest(), int64_t{-1});
          continue;
        }
        int64_t best = along.begin;
        for (int64_t i = along.begin + 1; i < along.end; ++i) {
          const C a = most[i * inner + k];
          const C b = most[best * inner + k];
          const bool ties = a == b || (a != a && b != b);
          const bool earlier = ties && where[i * inner + k] < where[best * inner + k];
          if (earlier || is_larger(a, b)) best = i;
        }
        give(output, most[best * inner + k], where[best * inner + k] * images.extents[2] + best);
      }
    }
  });
}

}  // namespace phi
