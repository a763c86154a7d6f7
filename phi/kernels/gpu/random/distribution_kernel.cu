// Distributions that use a varying number of random words, or a quantile, on GPUs: binomial,
// poisson, standard_gamma, dirichlet, truncated_gaussian_random. An element's draw depends on its
// parameters, the seed and its index in the global tensor, as on the CPU.
#include <cmath>

#include "phi/generated/kernels/sampling.h"
#include "phi/kernels/functors/random_draws.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/lines.h"
#include "phi/kernels/gpu/random/draw.h"
#include "phi/kernels/gpu/random/parameters.h"

namespace phi {
namespace {

// For rejected parameters the kernels write 0, because sampling might not terminate.

/// The random words of local element i.
struct WordsOf {
  gpu::GlobalIndex index;
  RandomUse use;
  PhiloxKey key;

  WordsOf(const ShardBox& where, RandomUse drawn_for, int seed)
      : index(gpu::global_index(where)),
        use(drawn_for),
        key(philox_key(static_cast<uint64_t>(static_cast<int64_t>(seed)))) {}
  PHI_HD ElementWords operator()(int64_t i) const {
    return {static_cast<uint64_t>(index.of(i)), use, key};
  }
};

template <typename T>
struct DrawPoisson {
  WordsOf words;
  const T* rates;
  PHI_HD T operator()(int64_t i) const {
    const auto rate = static_cast<double>(rates[i]);
    if (!IsRate()(rate)) return T(0);
    ElementWords own = words(i);
    return convert_value<T>(draw_poisson(own, rate));
  }
};

template <typename T>
struct DrawLogGamma {
  WordsOf words;
  const T* shapes;
  PHI_HD double operator()(int64_t i) const {
    const auto shape = static_cast<double>(shapes[i]);
    if (!IsShape()(shape)) return 0;
    ElementWords own = words(i);
    return draw_log_gamma(own, shape);
  }
};

template <typename T>
struct DrawGamma {
  DrawLogGamma<T> log_gamma;
  PHI_HD T operator()(int64_t i) const { return convert_value<T>(std::exp(log_gamma(i))); }
};

/// out = exp(log) divided by the sum along a line.
template <typename T>
struct DirichletLine {
  const double* logs;
  T* out;
  int64_t n;
  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const double* const own = logs + line * n;
    const double most = team.template largest<double>(n, [&](int64_t k) { return own[k]; });
    const auto power = [&](int64_t k) { return std::exp(own[k] - most); };
    const double sum = team.template sum<double>(n, power);
    team.each(n, [&](int64_t k) { out[line * n + k] = convert_value<T>(power(k) / sum); });
  }
};

template <typename T>
struct DrawBinomial {
  WordsOf words;
  gpu::Walk<2> walk;  // offsets of counts and probabilities, which broadcast
  const double* counts;
  const T* probabilities;
  PHI_HD int64_t operator()(int64_t i) const {
    const auto from = walk.offsets(i);
    const double n = counts[from.at[0]];
    const auto p = static_cast<double>(probabilities[from.at[1]]);
    if (!IsCount()(n) || !IsProbability()(p)) return 0;
    ElementWords own = words(i);
    return truncated<int64_t>(draw_binomial(own, std::floor(n), p));
  }
};

template <typename T>
struct DrawTruncated {
  TruncatedNormal draw;
  PHI_HD T operator()(const PhiloxBlock& block, int w) const {
    return convert_value<T>(draw(gpu::word_of(block, w)));
  }
};

}  // namespace

/// T is the dtype of prob. Counts are truncated to integers. Errors: InvalidArgument for a negative
/// count and for prob outside [0, 1].
template <typename T, typename Context>
void BinomialKernel(const Context& ctx, const DenseTensor& count, const DenseTensor& prob, int seed,
                    DenseTensor* out) {
  if (out->numel() == 0) return;
  DenseTensor counts = DenseTensor::empty({count.dims(), DataType::FLOAT64}, ctx.place());
  visit_dtype(count.dtype(), [&]<typename Count>() {
    convert(ctx, count.data<Count>(), counts.mutable_data<double>(), count.numel());
  });
  gpu::check_parameters<IsCount, double>(ctx, counts, "count");
  gpu::check_parameters<IsProbability, T>(ctx, prob, "prob");
  const WordsOf words(ctx.output_box(0, out->dims()), RandomUse::kBinomial, seed);
  index_loop(
      ctx, out->mutable_data<int64_t>(), out->numel(),
      DrawBinomial<T>{words, gpu::broadcast_walk<2>({&count.dims(), &prob.dims()}, out->dims()),
                      counts.data<double>(), prob.data<T>()});
}

/// Errors: InvalidArgument for a rate that is negative or not finite.
template <typename T, typename Context>
void PoissonKernel(const Context& ctx, const DenseTensor& x, int seed, DenseTensor* out) {
  gpu::check_parameters<IsRate, T>(ctx, x, "x");
  const WordsOf words(ctx.output_box(0, out->dims()), RandomUse::kPoisson, seed);
  index_loop(ctx, out->mutable_data<T>(), out->numel(), DrawPoisson<T>{words, x.data<T>()});
}

/// Errors: InvalidArgument for a shape that is not positive or not finite.
template <typename T, typename Context>
void StandardGammaKernel(const Context& ctx, const DenseTensor& x, int seed, DenseTensor* out) {
  gpu::check_parameters<IsShape, T>(ctx, x, "x");
  const WordsOf words(ctx.output_box(0, out->dims()), RandomUse::kGamma, seed);
  index_loop(ctx, out->mutable_data<T>(), out->numel(), DrawGamma<T>{{words, x.data<T>()}});
}

/// Gamma draws divided by their sum along the last tensor dim, which is unsharded. Computed from
/// logarithms, because all draws may underflow to 0. Errors: those of standard_gamma.
template <typename T, typename Context>
void DirichletKernel(const Context& ctx, const DenseTensor& alpha, int seed, DenseTensor* out) {
  if (alpha.numel() == 0) return;
  gpu::check_parameters<IsShape, T>(ctx, alpha, "alpha");
  const WordsOf words(ctx.output_box(0, out->dims()), RandomUse::kGamma, seed);
  DenseTensor logs = DenseTensor::empty({alpha.dims(), DataType::FLOAT64}, ctx.place());
  index_loop(ctx, logs.mutable_data<double>(), alpha.numel(),
             DrawLogGamma<T>{words, alpha.data<T>()});
  const int64_t n = alpha.dims().back();
  gpu::for_each_line(ctx, gpu::AxisLines::rows(alpha.numel() / n, n),
                     DirichletLine<T>{logs.data<double>(), out->mutable_data<T>(), n});
}

template <typename T, typename Context>
void TruncatedGaussianRandomKernel(const Context& ctx, float mean, float std, int seed, float a,
                                   float b, DenseTensor* out) {
  gpu::draw_to(ctx, ctx.output_box(0, out->dims()), gpu::seed_source(seed),
               RandomUse::kTruncatedGaussian, out->mutable_data<T>(),
               DrawTruncated<T>{TruncatedNormal(mean, std, a, b)});
}

PHI_REGISTER_KERNEL(binomial, GPU, BinomialKernel, Floats);
PHI_REGISTER_KERNEL(poisson, GPU, PoissonKernel, Floats);
PHI_REGISTER_KERNEL(standard_gamma, GPU, StandardGammaKernel, Floats);
PHI_REGISTER_KERNEL(dirichlet, GPU, DirichletKernel, Floats);
PHI_REGISTER_KERNEL(truncated_gaussian_random, GPU, TruncatedGaussianRandomKernel, Floats);

}  // namespace phi
