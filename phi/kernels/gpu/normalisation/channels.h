// Images as [outer, channels, inner] on a GPU: sums per channel, and elementwise maps with
// parameters per channel. In channels-last formats inner is 1.
#pragma once

#include <cstdint>
#include <string>

#include "phi/gpu/index_space.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/lines.h"

namespace phi::gpu {

/// The tensor dim of the channels for a format such as NCHW or NHWC.
inline int channel_axis(int ndim, const std::string& data_format) {
  return data_format.ends_with('C') ? ndim - 1 : 1;
}

struct ChannelDims {
  int64_t outer;
  int64_t channels;
  int64_t inner;

  ChannelDims(const Dims& dims, int axis)
      : outer(dims.numel(0, axis)),
        channels(dims[axis]),
        inner(dims.numel(axis + 1, dims.ndim())),
        space_({channels, inner}) {}
  int64_t numel() const { return outer * channels * inner; }
  __device__ int64_t channel_of(int64_t at) const { return space_.place(at).along[0]; }
  /// The elements of each channel.
  SliceLines lines() const { return {outer, channels, inner}; }

 private:
  IndexSpace<2> space_;
};

/// Computes two sums per channel: sums[c] and sums[channels + c] are the sums of the two numbers of
/// term(position, c), a Two<C>, over the elements of channel c.
template <typename C, typename Term>
struct ChannelSums {
  SliceLines lines;
  Term term;
  double* sums;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t c) const {
    const int64_t first = lines.start(c);
    const auto both = team.template wide_sum<gpu::SumPair<C>>(
        lines.n, [&](int64_t k) { return term(first + lines.at(k), c); });
    if (team.index() != 0) return;
    sums[c] = both.a;
    sums[lines.count + c] = both.b;
  }
};

template <typename C, typename Term>
void channel_sums(const GpuContext& ctx, const ChannelDims& dims, const Term& term, double* sums) {
  const SliceLines lines = dims.lines();
  for_each_line(ctx, lines, ChannelSums<C, Term>{lines, term, sums});
}

template <typename T, typename F>
__global__ void map_channels(ChannelDims dims, int64_t n, F f, T* out) {
  for (int64_t at = first_item(); at < n; at += item_stride()) {
    out[at] = static_cast<T>(f(at, dims.channel_of(at)));
  }
}

/// out = f(position, channel) for each element.
template <typename T, typename F>
void channel_map(const GpuContext& ctx, const ChannelDims& dims, const F& f, T* out) {
  const int64_t n = dims.numel();
  if (n == 0) return;
  launch(ctx, map_channels<T, F>, blocks_for(ctx, n), kBlock, dims, n, f, out);
}

}  // namespace phi::gpu
