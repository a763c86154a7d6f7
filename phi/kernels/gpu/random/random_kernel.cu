// gaussian, uniform and dropout on GPUs, with the same words and values as on the CPU.
#include <cmath>

#include "phi/generated/kernels/random.h"
#include "phi/kernels/dropout.h"
#include "phi/kernels/functors/elementwise/unary.h"
#include "phi/kernels/functors/random_values.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/random/draw.h"
#include "phi/kernels/gpu/random/uniform.h"

namespace phi {
namespace {

template <typename T>
struct DrawGaussian {
  using C = compute_t<T>;
  C mean;
  C std;
  PHI_HD T operator()(const PhiloxBlock& block, int w) const {
    float first;
    float second;
    normal_pair(gpu::word_of(block, w & 2), gpu::word_of(block, (w & 2) + 1), &first, &second);
    return static_cast<T>(mean + std * static_cast<C>((w & 1) != 0 ? second : first));
  }
};

/// Words below `threshold` drop their element; a threshold of 2^32 drops all.
template <typename T>
struct Drop {
  uint64_t threshold;
  compute_t<T> factor;
  const T* x;
  T* out;
  uint8_t* mask;
  bool lie_in_fours() const { return gpu::are_pack_aligned<4>(x, out, mask); }
  template <int kCount>
  __device__ void put(int64_t i, const PhiloxBlock& block, int w) const {
    using C = compute_t<T>;
    const auto from = gpu::pack_at<kCount>(x + i, 0);
    gpu::Pack<T, kCount> to;
    gpu::Pack<uint8_t, kCount> kept;
    PHI_UNROLL(4)
    for (int e = 0; e < kCount; ++e) {
      const bool keep = gpu::word_of(block, w + e) >= threshold;
      to.element[e] = static_cast<T>(keep ? static_cast<C>(from.element[e]) * factor : C(0));
      kept.element[e] = keep ? 1 : 0;
    }
    gpu::put_pack<kCount>(out + i, 0, to);
    gpu::put_pack<kCount>(mask + i, 0, kept);
  }
};

template <typename C>
struct KeepScaled {
  C factor;
  PHI_HD C operator()(uint8_t kept, C x) const { return kept != 0 ? x * factor : C(0); }
};

gpu::SeedSource seed_source_of(const DenseTensor* seed_tensor, int seed) {
  gpu::SeedSource source = gpu::seed_source(seed);
  if (!seed_tensor) return source;
  check_seed_tensor(*seed_tensor);
  if (seed_tensor->dtype() == DataType::INT64) {
    source.wide = seed_tensor->data<int64_t>();
  } else {
    source.narrow = seed_tensor->data<int32_t>();
  }
  return source;
}

template <typename T>
void scale_all(const GpuContext& ctx, const DenseTensor& x, double factor, DenseTensor* out) {
  using C = compute_t<T>;
  unary_loop(ctx, x.data<T>(), out->mutable_data<T>(), x.numel(),
             ScaleFunctor<C, true>{static_cast<C>(factor), C(0)});
}

}  // namespace

/// Errors: InvalidArgument for a negative std.
template <typename T, typename Context>
void GaussianKernel(const Context& ctx, float mean, float std, int seed, DenseTensor* out) {
  PHI_CHECK(std >= 0.0f, errors::InvalidArgument("std is {}, but it must be at least 0.", std));
  gpu::draw_to(ctx, ctx.output_box(0, out->dims()), gpu::seed_source(seed), RandomUse::kGaussian,
               out->mutable_data<T>(), DrawGaussian<T>{mean, std});
}

/// Errors: InvalidArgument if min > max.
template <typename T, typename Context>
void UniformKernel(const Context& ctx, const Scalar& min, const Scalar& max, int seed,
                   DenseTensor* out) {
  const auto low = min.to<double>();
  const auto high = max.to<double>();
  PHI_CHECK(low <= high, errors::InvalidArgument(
                             "min is {} and max is {}: max must be at least min.", low, high));
  gpu::draw_to(ctx, ctx.output_box(0, out->dims()), gpu::seed_source(seed), RandomUse::kUniform,
               out->mutable_data<T>(), gpu::DrawUniform<T>(low, high));
}

/// Same contract as on the CPU. A seed_tensor is read on the GPU, without synchronisation.
template <typename T, typename Context>
void DropoutKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* seed_tensor,
                   const Scalar& p, bool is_test, const std::string& mode, int seed,
                   bool /*fix_seed*/, DenseTensor* out, DenseTensor* mask) {
  const auto probability = p.to<double>();
  const double factor = kept_factor(probability, is_test, mode);
  if (is_test) {
    scale_all<T>(ctx, x, factor, out);
    if (mask) fill(ctx, mask->mutable_data<uint8_t>(), mask->numel(), uint8_t{1});
    return;
  }
  const auto threshold = static_cast<uint64_t>(probability * 0x1p32);
  gpu::draw(ctx, ctx.output_box(0, out->dims()), seed_source_of(seed_tensor, seed),
            RandomUse::kDropout,
            Drop<T>{threshold, static_cast<compute_t<T>>(factor), x.data<T>(),
                    out->mutable_data<T>(), mask->mutable_data<uint8_t>()});
}

/// Passes the gradient of kept elements, times the factor that DropoutKernel applied; in inference,
/// that factor for all elements.
template <typename T, typename Context>
void DropoutGradKernel(const Context& ctx, const DenseTensor& mask, const DenseTensor& out_grad,
                       const Scalar& p, bool is_test, const std::string& mode,
                       DenseTensor* x_grad) {
  const double factor = kept_factor(p.to<double>(), is_test, mode);
  if (is_test) return scale_all<T>(ctx, out_grad, factor, x_grad);
  using C = compute_t<T>;
  gpu::map(ctx, x_grad->mutable_data<T>(), x_grad->numel(), KeepScaled<C>{static_cast<C>(factor)},
           mask.data<uint8_t>(), out_grad.data<T>());
}

PHI_REGISTER_KERNEL(gaussian, GPU, GaussianKernel, Floats);
PHI_REGISTER_KERNEL(uniform, GPU, UniformKernel, Floats);
PHI_REGISTER_KERNEL(dropout, GPU, DropoutKernel, Floats);
PHI_REGISTER_KERNEL(dropout_grad, GPU, DropoutGradKernel, Floats);

}  // namespace phi
