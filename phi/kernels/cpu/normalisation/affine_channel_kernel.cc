// affine_channel and its gradient on the CPU.
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image_norm.h"
#include "phi/kernels/cpu/normalisation/channels.h"

namespace phi {
namespace {

/// Any layout but NCHW has its channels last.
ChannelDims dims_of(const DenseTensor& x, const std::string& data_layout) {
  return ChannelDims::of(x.dims(), data_layout == "NCHW" ? 1 : x.ndim() - 1);
}

void write(const std::vector<double>& values, DenseTensor* out) {
  visit_dtype(out->dtype(), [&]<typename To>() {
    convert(values.data(), out->mutable_data<To>(), static_cast<int64_t>(values.size()));
  });
}

}  // namespace

/// out = x * scale + bias, channel by channel.
template <typename T, typename Context>
void AffineChannelKernel(const Context&, const DenseTensor& x, const DenseTensor& scale,
                         const DenseTensor& bias, const std::string& data_layout,
                         DenseTensor* out) {
  using C = compute_t<T>;
  const ComputeArray<C> scales(&scale);
  const ComputeArray<C> biases(&bias);
  const T* xs = x.data<T>();
  channel_map(
      dims_of(x, data_layout), xs, xs, out->mutable_data<T>(),
      [a = scales.data(), b = biases.data()](C v, C, int64_t c) { return v * a[c] + b[c]; });
}

/// Each output may be null: it is not wanted. Sums over parts of x are partial.
template <typename T, typename Context>
void AffineChannelGradKernel(const Context&, const DenseTensor& x, const DenseTensor& scale,
                             const DenseTensor& out_grad, const std::string& data_layout,
                             DenseTensor* x_grad, DenseTensor* scale_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const ChannelDims dims = dims_of(x, data_layout);
  const T* xs = x.data<T>();
  const T* dys = out_grad.data<T>();
  if (scale_grad) {
    std::vector<double> sums(dims.channels);
    channel_sums(
        dims, xs, dys, [](C v, C g, int64_t) { return v * g; }, sums.data());
    write(sums, scale_grad);
  }
  if (bias_grad) {
    std::vector<double> sums(dims.channels);
    channel_sums(
        dims, dys, dys, [](C g, C, int64_t) { return g; }, sums.data());
    write(sums, bias_grad);
  }
  if (!x_grad) return;
  const ComputeArray<C> scales(&scale);
  channel_map(dims, dys, dys, x_grad->mutable_data<T>(),
              [a = scales.data()](C g, C, int64_t c) { return g * a[c]; });
}

PHI_REGISTER_KERNEL(affine_channel, CPU, AffineChannelKernel, Floats);
PHI_REGISTER_KERNEL(affine_channel_grad, CPU, AffineChannelGradKernel, Floats);

}  // namespace phi
