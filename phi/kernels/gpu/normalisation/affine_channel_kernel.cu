// affine_channel and its gradient on GPUs.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/image_norm.h"
#include "phi/kernels/gpu/compute_array.h"
#include "phi/kernels/gpu/normalisation/channels.h"

namespace phi {
namespace {

using gpu::ChannelDims;

/// Layouts other than NCHW are channels-last.
ChannelDims gpu_channel_dims(const DenseTensor& x, const std::string& data_layout) {
  return {x.dims(), data_layout == "NCHW" ? 1 : x.ndim() - 1};
}

/// A null bias is zero.
template <typename T>
struct ScaleChannel {
  using C = compute_t<T>;
  const T* x;
  const C* scale;
  const C* bias;
  __device__ C operator()(int64_t at, int64_t c) const {
    const C scaled = static_cast<C>(x[at]) * scale[c];
    return bias ? scaled + bias[c] : scaled;
  }
};

template <typename T>
struct AffineGradTerms {
  using C = compute_t<T>;
  const T* x;
  const T* out_grad;
  __device__ gpu::SumPair<C> operator()(int64_t at, int64_t) const {
    const C g = static_cast<C>(out_grad[at]);
    return {static_cast<C>(x[at]) * g, g};
  }
};

void write(const GpuContext& ctx, const double* sums, DenseTensor* out) {
  if (!out) return;
  gpu::visit_floating(out->dtype(), [&]<typename To>() {
    convert(ctx, sums, out->mutable_data<To>(), out->numel());
  });
}

}  // namespace

/// out = x * scale + bias, channel by channel.
template <typename T, typename Context>
void AffineChannelKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& scale,
                         const DenseTensor& bias, const std::string& data_layout,
                         DenseTensor* out) {
  using C = compute_t<T>;
  const gpu::ComputeArray<C> scales(ctx, &scale);
  const gpu::ComputeArray<C> biases(ctx, &bias);
  gpu::channel_map(ctx, gpu_channel_dims(x, data_layout),
                   ScaleChannel<T>{x.data<T>(), scales.data(), biases.data()},
                   out->mutable_data<T>());
}

/// A null output is not computed. Sums over shards of x are partial.
template <typename T, typename Context>
void AffineChannelGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& scale,
                             const DenseTensor& out_grad, const std::string& data_layout,
                             DenseTensor* x_grad, DenseTensor* scale_grad, DenseTensor* bias_grad) {
  using C = compute_t<T>;
  const ChannelDims dims = gpu_channel_dims(x, data_layout);
  if (scale_grad || bias_grad) {
    DenseTensor sums = DenseTensor::empty({{2, dims.channels}, DataType::FLOAT64}, ctx.place());
    gpu::channel_sums<C>(ctx, dims, AffineGradTerms<T>{x.data<T>(), out_grad.data<T>()},
                         sums.mutable_data<double>());
    write(ctx, sums.data<double>(), scale_grad);
    write(ctx, sums.data<double>() + dims.channels, bias_grad);
  }
  if (!x_grad) return;
  const gpu::ComputeArray<C> scales(ctx, &scale);
  gpu::channel_map(ctx, dims, ScaleChannel<T>{out_grad.data<T>(), scales.data(), nullptr},
                   x_grad->mutable_data<T>());
}

PHI_REGISTER_KERNEL(affine_channel, GPU, AffineChannelKernel, Floats);
PHI_REGISTER_KERNEL(affine_channel_grad, GPU, AffineChannelGradKernel, Floats);

}  // namespace phi
