// Kernels that move elements between channels, pixels and frames of images.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "phi/generated/kernels/channels.h"
#include "phi/infermeta/channels.h"
#include "phi/kernels/pieces.h"

namespace phi {
namespace {

/// Moves channel g * per_group + c to c * groups + g. Channels are unsharded.
Pieces shuffled(const Dims& x, int groups, const std::string& data_format) {
  const int channels = image_dims(data_format).channels;
  const int64_t outer = x.numel(0, channels);
  const int64_t inner = x.numel(channels + 1, x.ndim());
  const int64_t per_group = x[channels] / groups;
  Pieces pieces;
  pieces.append(outer, {x[channels] * inner, x[channels] * inner});
  pieces.append(per_group, {groups * inner, inner});
  pieces.append(groups, {inner, per_group * inner});
  pieces.append(inner, {1, 1});
  return pieces;
}

/// Moves an array of `coarse` images to one of `fine` images. Channel c * factor^2 + i * factor + j
/// of the coarse images holds pixel (i, j) of each factor x factor square of channel c.
Pieces pixels(const Dims& coarse, const Dims& fine, int factor, const std::string& data_format) {
  const auto [channels, height, width] = image_dims(data_format);
  const Dims from = coarse.strides();
  const Dims to = fine.strides();
  const int64_t square = static_cast<int64_t>(factor) * factor;
  const auto channel_loop = [&](Pieces& pieces) {
    pieces.append(fine[channels], {to[channels], square * from[channels]});
  };
  Pieces pieces;
  pieces.append(fine[0], {to[0], from[0]});
  if (channels < height) channel_loop(pieces);
  pieces.append(coarse[height], {factor * to[height], from[height]});
  pieces.append(factor, {to[height], factor * from[channels]});
  pieces.append(coarse[width], {factor * to[width], from[width]});
  pieces.append(factor, {to[width], from[channels]});
  if (channels > height) channel_loop(pieces);
  return pieces;
}

/// The frames of a local shard. Tensor dim 0 is unsharded; channels may be sharded.
struct Frames {
  ShardBox here;
  int channels;
  int64_t seg_num;

  /// The numbers of local channels from the previous frame, and of those from either neighbour.
  std::pair<int64_t, int64_t> shifted(float ratio) const {
    const auto all = static_cast<float>(here.global[channels]);
    const auto local = [&](float part) {
      return std::clamp<int64_t>(static_cast<int64_t>(all * part) - here.box.offset[channels], 0,
                                 here.box.size[channels]);
    };
    return {local(ratio), local(2 * ratio)};
  }

  /// Moves channels [begin, end) from `back` frames before, for frames of the segment that have
  /// one.
  Pieces from(int64_t begin, int64_t end, int64_t back) const {
    const Dims& dims = here.box.size;
    const int64_t frame = dims.numel(1, dims.ndim());
    const int64_t count = seg_num - std::abs(back);
    const IndexRun frames{std::max<int64_t>(back, 0), std::max<int64_t>(-back, 0), count, 1};
    const int64_t inner = dims.numel(channels + 1, dims.ndim());
    Pieces pieces;
    pieces.append(dims[0] / seg_num, {seg_num * frame, seg_num * frame});
    pieces.append({frames}, {frame, frame});
    pieces.append(dims.numel(1, channels), {dims[channels] * inner, dims[channels] * inner});
    pieces.append({{begin, begin, end - begin, 1}}, {inner, inner});
    pieces.append(inner, {1, 1});
    return pieces;
  }
};

template <typename T, typename Context>
void shift_frames(const Context& ctx, const Frames& frames, float ratio, int64_t back,
                  const DenseTensor& x, DenseTensor* out) {
  if (x.numel() == 0) return;
  const auto [first, second] = frames.shifted(ratio);
  fill(ctx, out->mutable_data<T>(), out->numel(), T(0));
  if (frames.seg_num > 1) {
    copy_pieces<T>(ctx, frames.from(0, first, back), x, out);
    copy_pieces<T>(ctx, frames.from(first, second, -back), x, out);
  }
  copy_pieces<T>(ctx, frames.from(second, frames.here.box.size[frames.channels], 0), x, out);
}

}  // namespace

template <typename T, typename Context>
void ChannelShuffleKernel(const Context& ctx, const DenseTensor& x, int groups,
                          const std::string& data_format, DenseTensor* out) {
  copy_pieces<T>(ctx, shuffled(x.dims(), groups, data_format), x, out);
}

template <typename T, typename Context>
void PixelShuffleKernel(const Context& ctx, const DenseTensor& x, int upscale_factor,
                        const std::string& data_format, DenseTensor* out) {
  copy_pieces<T>(ctx, pixels(x.dims(), out->dims(), upscale_factor, data_format), x, out);
}

template <typename T, typename Context>
void PixelUnshuffleKernel(const Context& ctx, const DenseTensor& x, int downscale_factor,
                          const std::string& data_format, DenseTensor* out) {
  put_pieces<T>(ctx, pixels(out->dims(), x.dims(), downscale_factor, data_format), x, out);
}

/// Zeros where a segment has no previous or next frame.
template <typename T, typename Context>
void TemporalShiftKernel(const Context& ctx, const DenseTensor& x, int seg_num, float shift_ratio,
                         const std::string& data_format, DenseTensor* out) {
  const Frames frames{ctx.output_box(0, x.dims()), image_dims(data_format).channels, seg_num};
  shift_frames<T>(ctx, frames, shift_ratio, 1, x, out);
}

template <typename T, typename Context>
void TemporalShiftGradKernel(const Context& ctx, const DenseTensor& out_grad, int seg_num,
                             float shift_ratio, const std::string& data_format,
                             DenseTensor* x_grad) {
  const Frames frames{ctx.output_box(0, out_grad.dims()), image_dims(data_format).channels,
                      seg_num};
  shift_frames<T>(ctx, frames, shift_ratio, -1, out_grad, x_grad);
}

PHI_REGISTER_KERNEL(channel_shuffle, PHI_DEVICE, ChannelShuffleKernel, EveryType);
PHI_REGISTER_KERNEL(pixel_shuffle, PHI_DEVICE, PixelShuffleKernel, EveryType);
PHI_REGISTER_KERNEL(pixel_unshuffle, PHI_DEVICE, PixelUnshuffleKernel, EveryType);
PHI_REGISTER_KERNEL(temporal_shift, PHI_DEVICE, TemporalShiftKernel, Floats);
PHI_REGISTER_KERNEL(temporal_shift_grad, PHI_DEVICE, TemporalShiftGradKernel, Floats);

}  // namespace phi
