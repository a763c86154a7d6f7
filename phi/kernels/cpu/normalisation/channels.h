// Loops over images as [outer, channels, inner]: sums for each channel, and maps whose numbers
// differ from channel to channel. With channels last, inner is 1 and the innermost loop goes over
// channels.
//
//   const ChannelDims dims = ChannelDims::of({2, 3, 5, 5}, channel_axis(4, "NCHW"));
//   channel_sums(dims, x, x, [](C v, C, int64_t) { return v; }, sums);
//   channel_map(dims, x, x, out, [=](C v, C, int64_t c) { return v * a[c] + b[c]; });
//
// 16-bit numbers are computed with in float; sums are kept in double.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/cpu/wide.h"

namespace phi {

/// Which tensor dim the channels are, by a format such as NCHW or NHWC.
inline int channel_axis(int ndim, const std::string& data_format) {
  return data_format.ends_with('C') ? ndim - 1 : 1;
}

struct ChannelDims {
  int64_t outer = 1;
  int64_t channels = 1;
  int64_t inner = 1;

  /// Of an array whose channels are tensor dim `axis`.
  static ChannelDims of(const Dims& dims, int axis) {
    return {dims.numel(0, axis), dims[axis], dims.numel(axis + 1, dims.ndim())};
  }
  bool channels_last() const { return inner == 1; }
  int64_t rows() const { return channels_last() ? outer : outer * channels; }
  int64_t row_size() const { return channels_last() ? channels : inner; }
  /// The same of one image of the batch that `outer` is; with channels last an image is `part` of
  /// the outer extent.
  int64_t numel() const { return outer * channels * inner; }
};

namespace detail {

/// Row r. Not inlined: one loop of each term for all dtypes that are computed in C.
template <typename C, typename Term>
[[gnu::noinline]] void sum_channel_row(const ChannelDims& dims, int64_t r, const C* x, const C* y,
                                       const Term& term_of, double* sums) {
  run_widest<C>([=, term = term_of, channels = dims.channels, inner = dims.inner,
                 channels_last = dims.channels_last()] {
    if (channels_last) {
#pragma GCC ivdep
      for (int64_t c = 0; c < channels; ++c) sums[c] += static_cast<double>(term(x[c], y[c], c));
    } else {
      const int64_t c = r % channels;
      sums[c] +=
          static_cast<double>(row_sum<C>(inner, [=](int64_t i) { return term(x[i], y[i], c); }));
    }
  });
}

template <typename C, typename F>
[[gnu::noinline]] void map_channel_row(const ChannelDims& dims, int64_t r, const C* x, const C* y,
                                       C* out, const F& functor) {
  run_widest<C>([=, f = functor, channels = dims.channels, inner = dims.inner,
                 channels_last = dims.channels_last()] {
    if (channels_last) {
#pragma GCC ivdep
      for (int64_t c = 0; c < channels; ++c) out[c] = f(x[c], y[c], c);
    } else {
      const int64_t c = r % channels;
#pragma GCC ivdep
      for (int64_t i = 0; i < inner; ++i) out[i] = f(x[i], y[i], c);
    }
  });
}

}  // namespace detail

/// sums[c] += the sum of term(x, y, c) over the elements of channel c. x and y may be one array.
template <typename T, typename Term>
void channel_sums(const ChannelDims& dims, const T* x, const T* y, const Term& term, double* sums) {
  using C = compute_t<T>;
  RowReader<T> xs(x, dims.row_size());
  RowReader<T> ys(y, dims.row_size());
  for (int64_t r = 0; r < dims.rows(); ++r) {
    const C* xr = xs.row(r);
    detail::sum_channel_row(dims, r, xr, x == y ? xr : ys.row(r), term, sums);
  }
}

/// out = f(x, y, c) element by element; out may be x or y.
template <typename T, typename F>
void channel_map(const ChannelDims& dims, const T* x, const T* y, T* out, const F& f) {
  using C = compute_t<T>;
  RowReader<T> xs(x, dims.row_size());
  RowReader<T> ys(y, dims.row_size());
  RowWriter<T> outs(out, dims.row_size());
  for (int64_t r = 0; r < dims.rows(); ++r) {
    const C* xr = xs.row(r);
    detail::map_channel_row(dims, r, xr, x == y ? xr : ys.row(r), outs.row(r), f);
    outs.done(r);
  }
}

}  // namespace phi
