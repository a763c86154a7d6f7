// CPU kernels of gaussian, uniform and dropout.
#include "phi/kernels/random_kernel.h"

#include <algorithm>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernel_signatures.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/elementwise_loop.h"
#include "phi/kernels/cpu/random_stream.h"
#include "phi/kernels/functors/unary.h"
#include "phi/kernels/random_fill.h"

namespace phi {
namespace {

uint64_t seed_bits(int64_t seed) { return static_cast<uint64_t>(seed); }

uint64_t seed_of(const DenseTensor* seed_tensor, int seed) {
  if (!seed_tensor) return seed_bits(seed);
  const DataType dtype = seed_tensor->dtype();
  PHI_CHECK(seed_tensor->numel() == 1 && (dtype == DataType::INT32 || dtype == DataType::INT64),
            errors::InvalidArgument("seed_tensor is {}, but it must hold one int32 or int64.",
                                    seed_tensor->meta().to_string()));
  return seed_bits(dtype == DataType::INT64 ? *seed_tensor->data<int64_t>()
                                            : *seed_tensor->data<int32_t>());
}

bool is_upscale(const std::string& mode) {
  PHI_CHECK(mode == "upscale_in_train" || mode == "downscale_in_infer",
            errors::InvalidArgument("mode is '{}', but it must be upscale_in_train or "
                                    "downscale_in_infer.",
                                    mode));
  return mode == "upscale_in_train";
}

template <typename T>
void scale_all(const DenseTensor& x, double factor, DenseTensor* out) {
  using C = compute_t<T>;
  unary_loop(x.data<T>(), out->mutable_data<T>(), x.numel(),
             ScaleFunctor<C, true>{static_cast<C>(factor), C(0)});
}

// Words below `threshold` drop their element; 2^32 drops all.
template <typename T>
void drop(const ShardBox& where, uint64_t seed, uint64_t threshold, compute_t<T> factor, const T* x,
          T* out, uint8_t* mask) {
  using C = compute_t<T>;
  draw_random<uint32_t>(
      where,
      [&](const BatchBlocks& blocks, BatchValues<uint32_t>* values) {
        const BatchWords random(blocks, seed, RandomUse::kDropout);
        for (int s = 0; s < kBatchBlocks; ++s) {
          for (int w = 0; w < 4; ++w) (*values)[4 * s + w] = random.words[w][s];
        }
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

template <typename T>
void GaussianKernel(const CpuContext& ctx, float mean, float std, int seed, DenseTensor* out) {
  fill_gaussian(ctx.output_box(0, out->dims()), mean, std, seed_bits(seed), out);
}

template <typename T>
void UniformKernel(const CpuContext& ctx, const Scalar& min, const Scalar& max, int seed,
                   DenseTensor* out) {
  fill_uniform(ctx.output_box(0, out->dims()), min.to<double>(), max.to<double>(), seed_bits(seed),
               out);
}

template <typename T>
void DropoutKernel(const CpuContext& ctx, const DenseTensor& x, const DenseTensor* seed_tensor,
                   const Scalar& p, bool is_test, const std::string& mode, int seed,
                   bool /*fix_seed*/, DenseTensor* out, DenseTensor* mask) {
  const auto probability = p.to<double>();
  PHI_CHECK(probability >= 0.0 && probability <= 1.0,
            errors::InvalidArgument("p is {}, but a probability is in [0, 1].", p.to_string()));
  const bool upscale = is_upscale(mode);
  if (is_test) {
    scale_all<T>(x, upscale ? 1.0 : 1.0 - probability, out);
    if (mask) std::fill_n(mask->mutable_data<uint8_t>(), mask->numel(), uint8_t{1});
    return;
  }
  const auto threshold = static_cast<uint64_t>(probability * 0x1p32);
  // With p = 1 nothing is kept, and the factor does not matter as long as it is finite.
  const double factor = upscale && probability < 1.0 ? 1.0 / (1.0 - probability) : 1.0;
  drop<T>(ctx.output_box(0, out->dims()), seed_of(seed_tensor, seed), threshold,
          static_cast<compute_t<T>>(factor), x.data<T>(), out->mutable_data<T>(),
          mask->mutable_data<uint8_t>());
}

PHI_REGISTER_KERNEL(gaussian, CPU, GaussianKernel, float16, bfloat16, float, double);
PHI_REGISTER_KERNEL(uniform, CPU, UniformKernel, float16, bfloat16, float, double);
PHI_REGISTER_KERNEL(dropout, CPU, DropoutKernel, float16, bfloat16, float, double);

}  // namespace phi
