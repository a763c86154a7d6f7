// Distributions that use one random word per element, on GPUs: bernoulli, exponential, randint. An
// element's draw depends on its parameters, the seed and its index in the global tensor.
#include <cmath>

#include "phi/generated/kernels/sampling.h"
#include "phi/kernels/functors/random_draws.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/random/draw.h"
#include "phi/kernels/gpu/random/parameters.h"

namespace phi {
namespace {

template <typename T>
struct DrawBernoulli {
  const T* x;
  T* out;
  bool lie_in_fours() const { return gpu::are_pack_aligned<4>(x, out); }
  template <int kCount>
  __device__ void put(int64_t i, const PhiloxBlock& block, int w) const {
    const auto from = gpu::pack_at<kCount>(x + i, 0);
    gpu::Pack<T, kCount> to;
    PHI_UNROLL(4)
    for (int e = 0; e < kCount; ++e) {
      const auto p = static_cast<double>(from.element[e]);
      const bool is_one = static_cast<double>(gpu::word_of(block, w + e)) < p * 0x1p32;
      to.element[e] = convert_value<T>(is_one ? 1.0f : 0.0f);
    }
    gpu::put_pack<kCount>(out + i, 0, to);
  }
};

template <typename T>
struct DrawExponential {
  double rate;
  PHI_HD T operator()(const PhiloxBlock& block, int w) const {
    return convert_value<T>(-std::log(unit_of(gpu::word_of(block, w))) / rate);
  }
};

/// Scales a 64-bit word to the range. Its upper half is `block`'s word, and the lower half is drawn
/// here.
template <typename T>
struct DrawWhole {
  int64_t low;
  uint64_t numbers;
  uint64_t seed;
  gpu::GlobalIndex index;
  T* out;
  bool lie_in_fours() const { return gpu::are_pack_aligned<4>(out); }
  template <int kCount>
  __device__ void put(int64_t i, const PhiloxBlock& block, int w) const {
    const auto number = static_cast<uint64_t>(index.of(i) / 4);
    const PhiloxBlock lower =
        philox(philox_counter(number, RandomUse::kIntegerLow), philox_key(seed));
    gpu::Pack<T, kCount> to;
    PHI_UNROLL(4)
    for (int e = 0; e < kCount; ++e) {
      const uint64_t carry = gpu::word_of(lower, w + e) * numbers >> 32;
      const uint64_t value = (gpu::word_of(block, w + e) * numbers + carry) >> 32;
      to.element[e] = static_cast<T>(low + static_cast<int64_t>(value));
    }
    gpu::put_pack<kCount>(out + i, 0, to);
  }
};

}  // namespace

/// 1 with probability x, else 0. Errors: InvalidArgument for x outside [0, 1].
template <typename T, typename Context>
void BernoulliKernel(const Context& ctx, const DenseTensor& x, int seed, DenseTensor* out) {
  gpu::check_parameters<IsProbability, T>(ctx, x, "x");
  gpu::draw(ctx, ctx.output_box(0, out->dims()), gpu::seed_source(seed), RandomUse::kBernoulli,
            DrawBernoulli<T>{x.data<T>(), out->mutable_data<T>()});
}

/// The values of x are not read.
template <typename T, typename Context>
void ExponentialKernel(const Context& ctx, const DenseTensor& /*x*/, float lam, int seed,
                       DenseTensor* out) {
  gpu::draw_to(ctx, ctx.output_box(0, out->dims()), gpu::seed_source(seed), RandomUse::kExponential,
               out->mutable_data<T>(), DrawExponential<T>{lam});
}

/// Integers in [low, high).
template <typename T, typename Context>
void RandintKernel(const Context& ctx, int low, int high, int seed, DenseTensor* out) {
  const ShardBox where = ctx.output_box(0, out->dims());
  const gpu::SeedSource source = gpu::seed_source(seed);
  gpu::draw(ctx, where, source, RandomUse::kInteger,
            DrawWhole<T>{low, static_cast<uint64_t>(int64_t{high} - low), source.number,
                         gpu::global_index(where), out->mutable_data<T>()});
}

PHI_REGISTER_KERNEL(bernoulli, GPU, BernoulliKernel, Floats);
PHI_REGISTER_KERNEL(exponential, GPU, ExponentialKernel, Floats);
PHI_REGISTER_KERNEL(randint, GPU, RandintKernel, AllIntegers);

}  // namespace phi
