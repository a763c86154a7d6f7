// Loops over images as [outer, channels, inner]: sums per channel, and maps with numbers per
// channel. With channels last, inner is 1 and the innermost loop runs over channels.
//
//   const ChannelDims dims = ChannelDims::of({2, 3, 5, 5}, channel_axis(4, "NCHW"));
//   for (const ChannelRange range : ranges_in_cache(dims, sizeof(C))) {
//     channel_sums(dims, range, x, x, ChannelSum{[](C v, C, int64_t) { return v; }, sums});
//     channel_map(dims, range, x, x, out, [=](C v, C, int64_t c) { return v * a[c] + b[c]; });
//   }
//
// Half precision is computed in float. Sums are kept in double.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/rows.h"

namespace phi {

/// Returns the tensor dim of the channels for a format such as NCHW or NHWC.
inline int channel_axis(int ndim, const std::string& data_format) {
  return data_format.ends_with('C') ? ndim - 1 : 1;
}

struct ChannelDims {
  int64_t outer = 1;
  int64_t channels = 1;
  int64_t inner = 1;

  /// The view of an array whose channels are tensor dim `axis`.
  static ChannelDims of(const Dims& dims, int axis) {
    return {dims.numel(0, axis), dims[axis], dims.numel(axis + 1, dims.ndim())};
  }
  bool channels_last() const { return inner == 1; }
  int64_t rows() const { return channels_last() ? outer : outer * channels; }
  int64_t row_size() const { return channels_last() ? channels : inner; }
  int64_t numel() const { return outer * channels * inner; }
};

/// Channels [first, last).
struct ChannelRange {
  int64_t first;
  int64_t last;
};

/// Divides the channels into ranges of whole groups of `group` channels. A range's elements,
/// together with those of an output of the same size, stay in the second-level cache from one loop
/// to the next. With channels last there is one range.
inline std::vector<ChannelRange> ranges_in_cache(const ChannelDims& dims, size_t element_bytes,
                                                 int64_t group = 1) {
  constexpr int64_t kBytes = 256 << 10;
  if (dims.channels_last()) return {{0, dims.channels}};
  const int64_t group_bytes = group * dims.outer * dims.inner * static_cast<int64_t>(element_bytes);
  const int64_t step = group * std::max<int64_t>(kBytes / std::max<int64_t>(group_bytes, 1), 1);
  std::vector<ChannelRange> ranges;
  for (int64_t c = 0; c < dims.channels; c += step) {
    ranges.push_back({c, std::min(c + step, dims.channels)});
  }
  return ranges;
}

/// Adds the sum of term(x, y, c) over the elements of channel c to to[c].
template <typename Term>
struct ChannelSum {
  Term term;
  double* to;
};
template <typename Term>
ChannelSum(Term, double*) -> ChannelSum<Term>;

namespace detail {

/// Sums row r in compute type C. Not inlined, so that all dtypes that are read as R share one loop
/// per term.
template <typename C, typename R, typename... Terms>
[[gnu::noinline]] void sum_channel_row(const ChannelDims& dims, int64_t r, const R* x, const R* y,
                                       const ChannelSum<Terms>&... given) {
  run_best_isa<C>(
      [=, channels = dims.channels, inner = dims.inner, channels_last = dims.channels_last()] {
        if (channels_last) {
          const auto add = [=](const auto& sum) {
#pragma GCC ivdep
            for (int64_t c = 0; c < channels; ++c) {
              sum.to[c] += static_cast<double>(sum.term(C(x[c]), C(y[c]), c));
            }
          };
          (add(given), ...);
        } else {
          const int64_t c = r % channels;
          const auto sums =
              row_sums<C>(inner, [=](int64_t i) { return given.term(C(x[i]), C(y[i]), c); }...);
          size_t k = 0;
          ((given.to[c] += static_cast<double>(sums[k++])), ...);
        }
      });
}

/// Channels of the elements of a row: consecutive ones from `first` on, or `first` for all.
struct RowChannels {
  int64_t first;
  bool is_one;
};

/// Maps n elements of a row.
template <typename C, typename R, typename F>
[[gnu::noinline]] void map_channels(RowChannels channels, int64_t n, const R* x, const R* y, C* out,
                                    const F& functor) {
  run_best_isa<C>([=, f = functor] {
    if (channels.is_one) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(C(x[i]), C(y[i]), channels.first);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(C(x[i]), C(y[i]), channels.first + i);
    }
  });
}

/// Half-precision results are converted in blocks.
template <typename T, typename R, typename F>
void map_channel_row(RowChannels channels, int64_t n, const R* x, const R* y, T* out, const F& f) {
  using C = compute_t<T>;
  if constexpr (std::is_same_v<T, C>) {
    map_channels<C>(channels, n, x, y, out, f);
  } else {
    constexpr int64_t kBlock = 512;
    C block[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t some = std::min(kBlock, n - i);
      map_channels<C>(channels, some, x + i, y + i, block, f);
      convert(block, out + i, some);
      if (!channels.is_one) channels.first += some;
    }
  }
}

/// Calls f(r) for each row of the channels in `range`.
template <typename F>
void for_each_row(const ChannelDims& dims, const ChannelRange& range, const F& f) {
  if (dims.channels_last()) {
    for (int64_t r = 0; r < dims.outer; ++r) f(r);
    return;
  }
  for (int64_t o = 0; o < dims.outer; ++o) {
    for (int64_t c = range.first; c < range.last; ++c) f(o * dims.channels + c);
  }
}

}  // namespace detail

/// Computes the sums of the channels in `range` in one pass. x and y may be the same array.
template <typename T, typename... Terms>
void channel_sums(const ChannelDims& dims, const ChannelRange& range, const T* x, const T* y,
                  const ChannelSum<Terms>&... sums) {
  RowReader<T, read_t<T>> xs(x, dims.row_size());
  RowReader<T, read_t<T>> ys(y, dims.row_size());
  detail::for_each_row(dims, range, [&](int64_t r) {
    const read_t<T>* xr = xs.row(r);
    detail::sum_channel_row<compute_t<T>>(dims, r, xr, x == y ? xr : ys.row(r), sums...);
  });
}

/// Sets out = f(x, y, c) for each element of the channels in `range`. out may be x or y.
template <typename T, typename F>
void channel_map(const ChannelDims& dims, const ChannelRange& range, const T* x, const T* y, T* out,
                 const F& f) {
  const int64_t n = dims.row_size();
  const bool is_one = !dims.channels_last();
  RowReader<T, read_t<T>> xs(x, n);
  RowReader<T, read_t<T>> ys(y, n);
  detail::for_each_row(dims, range, [&](int64_t r) {
    const read_t<T>* xr = xs.row(r);
    const read_t<T>* yr = x == y ? xr : ys.row(r);
    const detail::RowChannels channels{is_one ? r % dims.channels : 0, is_one};
    detail::map_channel_row(channels, n, xr, yr, out + r * n, f);
  });
}

}  // namespace phi
