// gaussian, uniform and dropout on the CPU. The draw of an element depends on the seed and on its
// index in the global tensor.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/random.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loops/elementwise_loop.h"
#include "phi/kernels/cpu/random/random_stream.h"
#include "phi/kernels/dropout.h"
#include "phi/kernels/functors/elementwise/unary.h"
#include "phi/kernels/random_fill.h"

namespace phi {
namespace {

uint64_t seed_of(const DenseTensor* seed_tensor, int seed) {
  if (!seed_tensor) return seed_bits(seed);
  check_seed_tensor(*seed_tensor);
  return seed_bits(seed_tensor->dtype() == DataType::INT64 ? *seed_tensor->data<int64_t>()
                                                           : *seed_tensor->data<int32_t>());
}

template <typename T>
void scale_all(const DenseTensor& x, double factor, DenseTensor* out) {
  using C = compute_t<T>;
  unary_loop(x.data<T>(), out->mutable_data<T>(), x.numel(),
             ScaleFunctor<C, true>{static_cast<C>(factor), C(0)});
}

template <typename C>
void keep_scaled(const uint8_t* kept, const C* x, C factor, C* out, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = kept[i] ? x[i] * factor : C(0);
}

// Drops the elements whose words are below `threshold`; 2^32 drops all.
template <typename T>
void drop(const ShardBox& where, uint64_t seed, uint64_t threshold, compute_t<T> factor, const T* x,
          T* out, uint8_t* mask) {
  using C = compute_t<T>;
  draw_random<uint32_t>(
      where,
      [&](const BatchBlocks& blocks, BatchValues<uint32_t>* values) {
        *values = BatchWords(blocks, seed, RandomUse::kDropout).words;
      },
      [&](int64_t at, const uint32_t* words, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          const bool keep = words[i] >= threshold;
          const C value = convert_value<C>(x[at + i]) * factor;
          out[at + i] = convert_value<T>(keep ? value : C(0));
          mask[at + i] = keep;
        }
      });
}

}  // namespace

template <typename T, typename Context>
void GaussianKernel(const Context& ctx, float mean, float std, int seed, DenseTensor* out) {
  fill_gaussian(ctx.output_box(0, out->dims()), mean, std, seed_bits(seed), out);
}

template <typename T, typename Context>
void UniformKernel(const Context& ctx, const Scalar& min, const Scalar& max, int seed,
                   DenseTensor* out) {
  fill_uniform(ctx.output_box(0, out->dims()), min.to<double>(), max.to<double>(), seed_bits(seed),
               out);
}

/// Drops elements with probability p; `mask` (uint8) is 1 for kept elements. In training,
/// "upscale_in_train" divides kept elements by 1 - p. In inference nothing is dropped, and
/// "downscale_in_infer" multiplies all elements by 1 - p. If seed_tensor is given, its only element
/// is the seed.
///
/// Errors   InvalidArgument for p outside [0, 1], another mode, or a seed_tensor of several
///          elements.
template <typename T, typename Context>
void DropoutKernel(const Context& ctx, const DenseTensor& x, const DenseTensor* seed_tensor,
                   const Scalar& p, bool is_test, const std::string& mode, int seed,
                   bool /*fix_seed*/, DenseTensor* out, DenseTensor* mask) {
  const auto probability = p.to<double>();
  const double factor = kept_factor(probability, is_test, mode);
  if (is_test) {
    scale_all<T>(x, factor, out);
    if (mask) std::fill_n(mask->mutable_data<uint8_t>(), mask->numel(), uint8_t{1});
    return;
  }
  const auto threshold = static_cast<uint64_t>(probability * 0x1p32);
  drop<T>(ctx.output_box(0, out->dims()), seed_of(seed_tensor, seed), threshold,
          static_cast<compute_t<T>>(factor), x.data<T>(), out->mutable_data<T>(),
          mask->mutable_data<uint8_t>());
}

/// x_grad is the gradient of kept elements times their factor in DropoutKernel, 0 for others. In
/// inference all elements are kept.
///
/// Errors   those of DropoutKernel.
template <typename T, typename Context>
void DropoutGradKernel(const Context&, const DenseTensor& mask, const DenseTensor& out_grad,
                       const Scalar& p, bool is_test, const std::string& mode,
                       DenseTensor* x_grad) {
  const double factor = kept_factor(p.to<double>(), is_test, mode);
  if (is_test) return scale_all<T>(out_grad, factor, x_grad);
  const auto* kept = mask.data<uint8_t>();
  const T* g = out_grad.data<T>();
  T* to = x_grad->mutable_data<T>();
  const int64_t n = x_grad->numel();
  const auto scale = static_cast<compute_t<T>>(factor);
  if constexpr (kIs16Bit<T>) {
    float block[kConvertBlock];
    for (int64_t begin = 0; begin < n; begin += kConvertBlock) {
      const int64_t count = std::min(kConvertBlock, n - begin);
      convert(g + begin, block, count);
      keep_scaled(kept + begin, block, scale, block, count);
      convert(block, to + begin, count);
    }
  } else {
    keep_scaled(kept, g, scale, to, n);
  }
}

PHI_REGISTER_KERNEL(gaussian, CPU, GaussianKernel, Floats);
PHI_REGISTER_KERNEL(uniform, CPU, UniformKernel, Floats);
PHI_REGISTER_KERNEL(dropout, CPU, DropoutKernel, Floats);
PHI_REGISTER_KERNEL(dropout_grad, CPU, DropoutGradKernel, Floats);

}  // namespace phi
