// Random choices among items on the CPU: multinomial and randperm. The draw of an item depends on
// the seed and on its index in the global tensor.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/sampling.h"
#include "phi/kernels/cpu/check_elements.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/random/random_stream.h"
#include "phi/kernels/functors/choice_errors.h"
#include "phi/kernels/functors/random_draws.h"
#include "phi/kernels/functors/random_permutation.h"

namespace phi {
namespace {

/// A row of weights, and the number of those that are not 0.
class Weights {
 public:
  template <typename T>
  Weights(const T* x, int64_t classes) : weights_(static_cast<size_t>(classes)) {
    convert(x, weights_.data(), classes);
    for (double weight : weights_) possible_ += weight > 0;
  }

  void check(int64_t samples) const {
    if (possible_ < samples) throw_too_few({.extent = samples, .value = possible_});
  }

  /// Draws a class for each sample, with replacement. `first` is the index of the row's first
  /// sample.
  void choose_freely(int64_t first, int seed, int64_t* to, int64_t samples) const {
    std::vector<double> sums(weights_.size());
    std::partial_sum(weights_.begin(), weights_.end(), sums.begin());
    // Rounding may give the sum itself, after which there are only classes with weight 0.
    const auto last = std::lower_bound(sums.begin(), sums.end(), sums.back());
    for (int64_t i = 0; i < samples; ++i) {
      ElementWords words(static_cast<uint64_t>(first + i), RandomUse::kMultinomial,
                         philox_key(seed_bits(seed)));
      const auto found = std::upper_bound(sums.begin(), last, words.unit() * sums.back());
      to[i] = found - sums.begin();
    }
  }

  /// Draws classes without replacement: those with the shortest exponential waiting times, in their
  /// order. `first` is the index of the row's first class.
  void choose_apart(int64_t first, int seed, int64_t* to, int64_t samples) const {
    std::vector<std::pair<double, int64_t>> waits;
    waits.reserve(static_cast<size_t>(possible_));
    const auto classes = std::ssize(weights_);
    for (int64_t begin = 0; begin < classes; begin += kBatchBlocks) {
      const BatchWords random(blocks_from(static_cast<uint64_t>(first + begin)), seed_bits(seed),
                              RandomUse::kMultinomial);
      const int64_t count = std::min<int64_t>(kBatchBlocks, classes - begin);
      for (int64_t i = 0; i < count; ++i) {
        const double weight = weights_[begin + i];
        const uint32_t* words = random.words.data() + 4 * i;
        if (weight > 0)
          waits.emplace_back(-std::log(unit_of(words[0], words[1])) / weight, begin + i);
      }
    }
    std::partial_sort(waits.begin(), waits.begin() + samples, waits.end());
    for (int64_t i = 0; i < samples; ++i) to[i] = waits[static_cast<size_t>(i)].second;
  }

 private:
  std::vector<double> weights_;
  int64_t possible_ = 0;
};

}  // namespace

/// Classes are whole on this rank.
///
/// Errors   InvalidArgument for weights that are negative or not finite, and if a row has too few
///          weights above 0.
template <typename T, typename Context>
void MultinomialKernel(const Context& ctx, const DenseTensor& x, bool replacement, int seed,
                       DenseTensor* out) {
  const int64_t classes = x.dims().back();
  const int64_t samples = out->dims().back();
  const int64_t rows = x.dims().numel(0, x.ndim() - 1);
  const Box here = ctx.output_box(0, out->dims()).box;
  const int64_t first_row = x.ndim() > 1 ? here.offset[0] : 0;
  const T* from = x.data<T>();
  auto* to = out->mutable_data<int64_t>();
  check_elements<T>(ctx, x, IsInvalidWeight(), {.argument = "x", .raise = throw_invalid_weight});
  for (int64_t row = first_row; row < first_row + rows; ++row, from += classes, to += samples) {
    const Weights weights(from, classes);
    weights.check(replacement ? 1 : samples);
    if (replacement) {
      weights.choose_freely(row * samples, seed, to, samples);
    } else {
      weights.choose_apart(row * classes, seed, to, samples);
    }
  }
}

template <typename T, typename Context>
void RandpermKernel(const Context& ctx, int seed, DenseTensor* out) {
  const ShardBox where = ctx.output_box(0, out->dims());
  if (out->numel() == 0) return;
  const RandomPermutation order(where.global[0], seed_bits(seed));
  const int64_t first = where.box.offset[0];
  T* to = out->mutable_data<T>();
  for (int64_t begin = 0; begin < out->numel(); begin += RandomPermutation::kMost) {
    uint32_t numbers[RandomPermutation::kMost];
    const auto count =
        static_cast<int>(std::min<int64_t>(RandomPermutation::kMost, out->numel() - begin));
    run_best_isa<float>([=, &numbers] { order.numbers_from(first + begin, count, numbers); });
    for (int i = 0; i < count; ++i) to[begin + i] = convert_value<T>(int64_t{numbers[i]});
  }
}

PHI_REGISTER_KERNEL(multinomial, CPU, MultinomialKernel, Floats);
PHI_REGISTER_KERNEL(randperm, CPU, RandpermKernel, RealNumbers);

}  // namespace phi
