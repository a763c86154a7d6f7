// CPU kernels that move elements between channels, pixels and frames.
#include <algorithm>
#include <cmath>
#include <utility>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/channels.h"
#include "phi/infermeta/channels.h"
#include "phi/kernels/cpu/moves/move.h"

namespace phi {
namespace {

/// Channel g * per_group + c goes to c * groups + g. Channels are whole.
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

/// From an array of `coarse` images, whose channels hold squares of `factor` x `factor` pixels, to
/// one of `fine` ones. Channel c * factor^2 + i * factor + j holds the pixels (i, j).
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

/// Frames of x, as they lie: tensor dim 0 is whole, the channels may be a part.
struct Frames {
  ShardBox here;
  int channels;
  int64_t seg_num;

  /// Which of the channels here are shifted by one frame, first those from the frame before.
  std::pair<int64_t, int64_t> shifted(float ratio) const {
    const auto all = static_cast<float>(here.global[channels]);
    const auto local = [&](float part) {
      return std::clamp<int64_t>(static_cast<int64_t>(all * part) - here.box.offset[channels], 0,
                                 here.box.size[channels]);
    };
    return {local(ratio), local(2 * ratio)};
  }

  /// Channels [begin, end) from the frame `back` before, in the segment's frames that have one.
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

template <typename T>
void shift_frames(const Frames& frames, float ratio, int64_t back, const DenseTensor& x,
                  DenseTensor* out) {
  if (x.numel() == 0) return;
  const auto [first, second] = frames.shifted(ratio);
  std::fill_n(out->mutable_data<T>(), out->numel(), T(0));
  if (frames.seg_num > 1) {
    copy_pieces<T>(frames.from(0, first, back), x, out);
    copy_pieces<T>(frames.from(first, second, -back), x, out);
  }
  copy_pieces<T>(frames.from(second, frames.here.box.size[frames.channels], 0), x, out);
}

/// What stands at `position` in column `k` of a [.., width] encoding: sines in the first half,
/// cosines in the second, of angles that fall from `position` to a ten thousandth of it.
double encoding(int64_t position, int64_t k, int64_t width) {
  const int64_t half = width / 2;
  const auto at = static_cast<double>(position);
  const auto part = static_cast<double>(k % half);
  const double angle =
      half > 1 ? at / std::pow(10000.0, part / static_cast<double>(half - 1)) : at / 10000.0;
  return k < half ? std::sin(angle) : std::cos(angle);
}

}  // namespace

template <typename T, typename Context>
void ChannelShuffleKernel(const Context&, const DenseTensor& x, int groups,
                          const std::string& data_format, DenseTensor* out) {
  copy_pieces<T>(shuffled(x.dims(), groups, data_format), x, out);
}

template <typename T, typename Context>
void PixelShuffleKernel(const Context&, const DenseTensor& x, int upscale_factor,
                        const std::string& data_format, DenseTensor* out) {
  copy_pieces<T>(pixels(x.dims(), out->dims(), upscale_factor, data_format), x, out);
}

template <typename T, typename Context>
void PixelUnshuffleKernel(const Context&, const DenseTensor& x, int downscale_factor,
                          const std::string& data_format, DenseTensor* out) {
  using W = width_t<T>;
  if (x.numel() == 0) return;
  pixels(out->dims(), x.dims(), downscale_factor, data_format)
      .copy_back(static_cast<const W*>(x.raw_data()), static_cast<W*>(out->mutable_raw_data()));
}

/// Zeros where there is no frame before, or after.
template <typename T, typename Context>
void TemporalShiftKernel(const Context& ctx, const DenseTensor& x, int seg_num, float shift_ratio,
                         const std::string& data_format, DenseTensor* out) {
  const Frames frames{ctx.output_box(0, x.dims()), image_dims(data_format).channels, seg_num};
  shift_frames<T>(frames, shift_ratio, 1, x, out);
}

template <typename T, typename Context>
void TemporalShiftGradKernel(const Context& ctx, const DenseTensor& out_grad, int seg_num,
                             float shift_ratio, const std::string& data_format,
                             DenseTensor* x_grad) {
  const Frames frames{ctx.output_box(0, out_grad.dims()), image_dims(data_format).channels,
                      seg_num};
  shift_frames<T>(frames, shift_ratio, -1, out_grad, x_grad);
}

/// alpha x + beta times the encoding of the *global* position, whatever part of x is here.
template <typename T, typename Context>
void AddPositionEncodingKernel(const Context& ctx, const DenseTensor& x, float alpha, float beta,
                               DenseTensor* out) {
  if (x.numel() == 0) return;
  const ShardBox here = ctx.output_box(0, x.dims());
  const int64_t rows = x.dims()[1];
  const int64_t width = x.dims()[2];
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  std::vector<double> row(static_cast<size_t>(rows * width));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < width; ++k) {
      row[r * width + k] =
          beta * encoding(here.box.offset[1] + r, here.box.offset[2] + k, here.global[2]);
    }
  }
  for (int64_t b = 0; b < x.dims()[0]; ++b, from += row.size(), to += row.size()) {
    for (size_t i = 0; i < row.size(); ++i) {
      to[i] = convert_value<T>(alpha * convert_value<double>(from[i]) + row[i]);
    }
  }
}

PHI_REGISTER_KERNEL(channel_shuffle, CPU, ChannelShuffleKernel, EveryType);
PHI_REGISTER_KERNEL(pixel_shuffle, CPU, PixelShuffleKernel, EveryType);
PHI_REGISTER_KERNEL(pixel_unshuffle, CPU, PixelUnshuffleKernel, EveryType);
PHI_REGISTER_KERNEL(temporal_shift, CPU, TemporalShiftKernel, Floats);
PHI_REGISTER_KERNEL(temporal_shift_grad, CPU, TemporalShiftGradKernel, Floats);
PHI_REGISTER_KERNEL(add_position_encoding, CPU, AddPositionEncodingKernel, Floats);

}  // namespace phi
