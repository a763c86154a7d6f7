// affine_channel and its gradient on the CPU.
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image_norm.h"
#include "phi/kernels/cpu/normalisation/channels.h"
#include "phi/kernels/cpu/normalisation/write_converted.h"

namespace phi {
namespace {

/// Any layout other than NCHW has its channels last.
ChannelDims dims_of(const DenseTensor& x, const std::string& data_layout) {
  return ChannelDims::of(x.dims(), data_layout == "NCHW" ? 1 : x.ndim() - 1);
}

}  // namespace

/// out = x * scale + bias for each channel.
template <typename T, typename Context>
void AffineChannelKernel(const Context&, const DenseTensor& x, const DenseTensor& scale,
                         const DenseTensor& bias, const std::string& data_layout,
                         DenseTensor* out) {
  using C = compute_t<T>;
  const ComputeArray<C> scales(&scale);
  const ComputeArray<C> biases(&bias);
  const T* xs = x.data<T>();
  const ChannelDims dims = dims_of(x, data_layout);
  channel_map(
      dims, {0, dims.channels}, xs, xs, out->mutable_data<T>(),
      [a = scales.data(), b = biases.data()](C v, C, int64_t c) { return v * a[c] + b[c]; });
}

/// An output that is not wanted is null. If x is sharded, sums are partial.
template <typename T, typename Context>
void AffineChannelGradKernel(const Context&, const DenseTensor& x, const DenseTensor& scale,
                             const DenseTensor& out_grad, const std::string& data_layout,
                             DenseTensor* x_grad, DenseTensor* scale_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const ChannelDims dims = dims_of(x, data_layout);
  const T* xs = x.data<T>();
  const T* dys = out_grad.data<T>();
  const ComputeArray<C> scales(&scale);
  std::vector<double> of_scale(dims.channels), of_bias(dims.channels);
  const ChannelSum scale_sum{[](C v, C g, int64_t) { return v * g; }, of_scale.data()};
  const ChannelSum bias_sum{[](C, C g, int64_t) { return g; }, of_bias.data()};
  for (const ChannelRange range : ranges_in_cache(dims, sizeof(T))) {
    if (scale_grad || bias_grad) channel_sums(dims, range, xs, dys, scale_sum, bias_sum);
    if (!x_grad) continue;
    channel_map(dims, range, dys, dys, x_grad->mutable_data<T>(),
                [a = scales.data()](C g, C, int64_t c) { return g * a[c]; });
  }
  if (scale_grad) write_converted(of_scale, scale_grad);
  if (bias_grad) write_converted(of_bias, bias_grad);
}

PHI_REGISTER_KERNEL(affine_channel, CPU, AffineChannelKernel, Floats);
PHI_REGISTER_KERNEL(affine_channel_grad, CPU, AffineChannelGradKernel, Floats);

}  // namespace phi
