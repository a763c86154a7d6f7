// Elementwise draws from distributions on the CPU: bernoulli, binomial, poisson, standard_gamma,
// dirichlet, exponential_, randint, truncated_gaussian_random. A draw depends on the element's
// parameters, the seed and its index in the global tensor.
#include <algorithm>
#include <array>
#include <cmath>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/sampling.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/loops/broadcast.h"
#include "phi/kernels/cpu/random/random_stream.h"
#include "phi/kernels/cpu/random/ready_units.h"
#include "phi/kernels/functors/random_draws.h"
#include "phi/kernels/random_parameters.h"

namespace phi {
namespace {

/// Sets to[i] = low + an integer below `numbers`, for each element of `where`: a 64-bit word,
/// scaled.
template <typename T>
void draw_whole(const ShardBox& where, int seed, int low, uint64_t numbers, T* to) {
  draw_random<T>(
      where,
      [=](const BatchBlocks& blocks, BatchValues<T>* values) {
        const BatchWords high(blocks, seed_bits(seed), RandomUse::kInteger);
        const BatchWords rest(blocks, seed_bits(seed), RandomUse::kIntegerLow);
        run_best_isa<float>(
            [=, h = high.words.data(), l = rest.words.data(), out = values->data()] {
#pragma GCC ivdep
              for (int i = 0; i < kBatchValues; ++i) {
                // The upper half of word * numbers, where `numbers` has 32 bits.
                const uint64_t carry = l[i] * numbers >> 32;
                const uint64_t value = (h[i] * numbers + carry) >> 32;
                out[i] = static_cast<T>(low + static_cast<int64_t>(value));
              }
            });
      },
      [to](int64_t at, const T* values, int64_t n) { std::copy_n(values, n, to + at); });
}

/// Sets to[i] = of(word, i), rounded, for each element of `where`.
template <typename T, typename Of>
void from_words(const ShardBox& where, int seed, RandomUse use, T* to, Of of) {
  draw_random<uint32_t>(
      where,
      [=](const BatchBlocks& blocks, BatchValues<uint32_t>* values) {
        *values = BatchWords(blocks, seed_bits(seed), use).words;
      },
      [=](int64_t at, const uint32_t* words, int64_t n) {
        for (int64_t i = 0; i < n; ++i) to[at + i] = convert_value<T>(of(words[i], at + i));
      });
}

/// Draws an element with its parameter.
using DrawFunction = double (*)(ReadyUnits& units, double parameter);

/// Sets out[i] = draw(units of the element, parameter of the element), rounded. Draws are
/// instantiated for double only.
template <typename T>
void draw_each(const ShardBox& where, const DenseTensor& x, int seed, RandomUse use,
               DenseTensor* out, DrawFunction draw) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for_each_element(where, seed_bits(seed), use, [=](int64_t at, ReadyUnits& units) {
    to[at] = convert_value<T>(draw(units, static_cast<double>(from[at])));
  });
}

/// One instantiation for all T.
[[gnu::noinline]] GammaDraw gamma_draw(ReadyUnits& units, double shape) {
  return draw_gamma(units, shape);
}

/// Returns the exponential of the draw's logarithm, rounded to T. A double approximation within
/// 1e-13 usually determines the rounding without computing a logarithm.
template <typename T>
T value_of(const GammaDraw& drawn) {
  if constexpr (!std::is_same_v<T, double>) {
    const double close = drawn.log == 0 ? drawn.factor : drawn.factor * std::exp(drawn.log);
    const T low = convert_value<T>(close * (1 - 1e-12));
    const T high = convert_value<T>(close * (1 + 1e-12));
    if (low == high && close > 1e-290) return low;
  }
  return convert_value<T>(std::exp(drawn.logarithm()));
}

template <typename Good>
void check_parameter(double x, const char* name) {
  if (!Good()(x)) throw_no_parameter(name, x, Good::kRange);
}

}  // namespace

/// Draws 1 with probability x, else 0.
///
/// Errors   InvalidArgument for x outside [0, 1].
template <typename T, typename Context>
void BernoulliKernel(const Context& ctx, const DenseTensor& x, int seed, DenseTensor* out) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0; i < x.numel(); ++i)
    check_parameter<IsProbability>(static_cast<double>(from[i]), "x");
  from_words(ctx.output_box(0, out->dims()), seed, RandomUse::kBernoulli, to,
             [from](uint32_t word, int64_t i) {
               const double p = static_cast<double>(from[i]);
               return static_cast<double>(word) < p * 0x1p32 ? 1.0f : 0.0f;
             });
}

/// T is prob's dtype. The fraction of a count is dropped.
///
/// Errors   InvalidArgument for a negative count and for prob outside [0, 1].
template <typename T, typename Context>
void BinomialKernel(const Context& ctx, const DenseTensor& count, const DenseTensor& prob, int seed,
                    DenseTensor* out) {
  if (out->numel() == 0) return;
  const T* p = prob.data<T>();
  auto* to = out->mutable_data<int64_t>();
  const ShardBox where = ctx.output_box(0, out->dims());
  const Broadcast<2> walk(out->dims(), {&count.dims(), &prob.dims()});
  std::vector<std::array<double, 2>> parameters(static_cast<size_t>(out->numel()));
  visit_dtype(count.dtype(), [&]<typename Count>() {
    const Count* trials = count.data<Count>();
    walk.for_each_row([&](int64_t at, const std::array<int64_t, 2>& from, int64_t length) {
      for (int64_t i = 0; i < length; ++i) {
        const auto n = static_cast<double>(trials[from[0] + i * walk.inner_stride(0)]);
        const auto probability = static_cast<double>(p[from[1] + i * walk.inner_stride(1)]);
        check_parameter<IsCount>(n, "count");
        check_parameter<IsProbability>(probability, "prob");
        parameters[static_cast<size_t>(at + i)] = {std::floor(n), probability};
      }
    });
  });
  for_each_element(where, seed_bits(seed), RandomUse::kBinomial,
                   [&](int64_t at, ReadyUnits& units) {
                     const auto [n, probability] = parameters[static_cast<size_t>(at)];
                     to[at] = truncated<int64_t>(draw_binomial(units, n, probability));
                   });
}

/// Errors   InvalidArgument for a rate that is negative or not finite.
template <typename T, typename Context>
void PoissonKernel(const Context& ctx, const DenseTensor& x, int seed, DenseTensor* out) {
  draw_each<T>(ctx.output_box(0, out->dims()), x, seed, RandomUse::kPoisson, out,
               [](ReadyUnits& units, double rate) {
                 check_parameter<IsRate>(rate, "x");
                 return draw_poisson(units, rate);
               });
}

/// Errors   InvalidArgument for a shape that is not positive or not finite.
template <typename T, typename Context>
void StandardGammaKernel(const Context& ctx, const DenseTensor& x, int seed, DenseTensor* out) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for_each_element(ctx.output_box(0, out->dims()), seed_bits(seed), RandomUse::kGamma,
                   [=](int64_t at, ReadyUnits& units) {
                     const auto shape = static_cast<double>(from[at]);
                     check_parameter<IsShape>(shape, "x");
                     to[at] = value_of<T>(gamma_draw(units, shape));
                   });
}

/// Gamma draws divided by their sum along the last tensor dim, which is whole on this rank.
/// Computed from logarithms, because all draws may underflow to 0.
///
/// Errors   those of standard_gamma.
template <typename T, typename Context>
void DirichletKernel(const Context& ctx, const DenseTensor& alpha, int seed, DenseTensor* out) {
  const int64_t width = alpha.dims().back();
  const T* from = alpha.data<T>();
  T* to = out->mutable_data<T>();
  std::vector<double> logs(static_cast<size_t>(alpha.numel()));
  for_each_element(ctx.output_box(0, out->dims()), seed_bits(seed), RandomUse::kGamma,
                   [&](int64_t at, ReadyUnits& units) {
                     const auto shape = static_cast<double>(from[at]);
                     check_parameter<IsShape>(shape, "alpha");
                     logs[static_cast<size_t>(at)] = gamma_draw(units, shape).logarithm();
                   });
  for (auto row = logs.begin(); row != logs.end(); row += width) {
    const double most = *std::max_element(row, row + width);
    double sum = 0;
    for (auto i = row; i != row + width; ++i) sum += * i = std::exp(*i - most);
    for (auto i = row; i != row + width; ++i) *to++ = convert_value<T>(*i / sum);
  }
}

/// x's values are not read.
template <typename T, typename Context>
void ExponentialKernel(const Context& ctx, const DenseTensor& /*x*/, float lam, int seed,
                       DenseTensor* out) {
  from_words(ctx.output_box(0, out->dims()), seed, RandomUse::kExponential, out->mutable_data<T>(),
             [lam](uint32_t word, int64_t) {
               return -std::log(unit_of(word)) / static_cast<double>(lam);
             });
}

/// Draws integers in [low, high).
template <typename T, typename Context>
void RandintKernel(const Context& ctx, int low, int high, int seed, DenseTensor* out) {
  draw_whole(ctx.output_box(0, out->dims()), seed, low, static_cast<uint64_t>(int64_t{high} - low),
             out->mutable_data<T>());
}

template <typename T, typename Context>
void TruncatedGaussianRandomKernel(const Context& ctx, float mean, float std, int seed, float a,
                                   float b, DenseTensor* out) {
  const TruncatedNormal normal(mean, std, a, b);
  const auto draw = [&](auto number) {
    from_words(ctx.output_box(0, out->dims()), seed, RandomUse::kTruncatedGaussian,
               out->mutable_data<T>(), number);
  };
  if (normal.is_inside()) {
    draw([=](uint32_t word, int64_t) { return normal.inside(word); });
  } else {
    draw([=](uint32_t word, int64_t) { return normal(word); });
  }
}

PHI_REGISTER_KERNEL(bernoulli, CPU, BernoulliKernel, Floats);
PHI_REGISTER_KERNEL(binomial, CPU, BinomialKernel, Floats);
PHI_REGISTER_KERNEL(poisson, CPU, PoissonKernel, Floats);
PHI_REGISTER_KERNEL(standard_gamma, CPU, StandardGammaKernel, Floats);
PHI_REGISTER_KERNEL(dirichlet, CPU, DirichletKernel, Floats);
PHI_REGISTER_KERNEL(exponential, CPU, ExponentialKernel, Floats);
PHI_REGISTER_KERNEL(randint, CPU, RandintKernel, AllIntegers);
PHI_REGISTER_KERNEL(truncated_gaussian_random, CPU, TruncatedGaussianRandomKernel, Floats);

}  // namespace phi
