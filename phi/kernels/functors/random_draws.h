// Draws from distributions that need a varying number of random words. Each element has its own
// sequence of words.
//
//   ElementWords words(element, RandomUse::kPoisson, philox_key(seed));
//   const double n = draw_poisson(words, rate);
#pragma once

#include <cmath>
#include <cstdint>

#include "phi/kernels/functors/fast/special.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/functors/philox.h"

namespace phi {

/// Two words as a number in (0, 1) with 53 bits.
PHI_HD double unit_of(uint32_t high, uint32_t low) {
  const uint64_t bits = uint64_t{high} << 20 | low >> 12;
  return (static_cast<double>(static_cast<int64_t>(bits)) + 0.5) * 0x1p-52;
}

/// The random words of one element of a tensor. The draws below accept any class with unit().
class ElementWords {
 public:
  PHI_HD ElementWords(uint64_t element, RandomUse use, PhiloxKey key)
      : counter_(philox_counter(element, use)), key_(key) {}

  PHI_HD uint32_t next() {
    if (left_ == 0) {
      block_ = philox(counter_, key_);
      ++counter_.word[3];
      left_ = 4;
    }
    return block_.word[4 - left_--];
  }
  PHI_HD double unit() {
    const uint32_t high = next();
    return unit_of(high, next());
  }

 private:
  PhiloxBlock counter_;
  PhiloxKey key_;
  PhiloxBlock block_{};
  int left_ = 0;
};

/// A standard normal number: one of Box-Muller's two.
template <typename Words>
PHI_HD double draw_normal(Words& words) {
  const double radius = std::sqrt(-2.0 * std::log(words.unit()));
  return radius * std::cos(6.283185307179586 * words.unit());
}

/// log(k!) - ((k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2), for an integer k.
PHI_HD double stirling_rest(double k) {
  constexpr double kFirst[] = {0.08106146679532726, 0.04134069595540929, 0.02767792568499834,
                               0.02079067210376509, 0.01664469118982119, 0.01387612882307075,
                               0.01189670994589177, 0.01041126526197209, 0.00925546218271273,
                               0.00833056343336287};
  if (k < 10) return kFirst[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/// log(k!), for an integer k.
PHI_HD double log_factorial(double k) {
  return (k + 0.5) * std::log(k + 1) - (k + 1) + 0.9189385332046727 + stirling_rest(k);
}

/// A gamma draw as `factor` exp(`log`), because draws of small shapes underflow float64.
struct GammaDraw {
  double factor;
  double log;
  PHI_HD double logarithm() const { return std::log(factor) + log; }
};

/// A gamma draw of scale 1 and of `shape`, which is positive. G. Marsaglia and W. Tsang, "A simple
/// method for generating gamma variables", 2000.
template <typename Words>
PHI_HD GammaDraw draw_gamma(Words& words, double shape) {
  double boost = 0;
  if (shape < 1) {
    boost = std::log(words.unit()) / shape;
    shape += 1;
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  // The paper's squeeze accepts without a logarithm. The margin subtracted from it is far larger
  // than the rounding error of the exact test below, whose terms are as large as d.
  const double squeeze = d < 1e4 ? 1 - 1e-9 : 0;
  while (true) {
    const double x = draw_normal(words);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double u = words.unit();
    if (u < squeeze - 0.0331 * (x * x) * (x * x) ||
        std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) {
      return {d * v, boost};
    }
  }
}

template <typename Words>
PHI_HD double draw_log_gamma(Words& words, double shape) {
  return draw_gamma(words, shape).logarithm();
}

/// A Poisson draw. For rates below 10 it multiplies uniform numbers; otherwise it is W. Hoermann's
/// PTRS, "The transformed rejection method for generating Poisson random variables", 1993.
template <typename Words>
PHI_HD double draw_poisson(Words& words, double rate) {
  if (rate < 10) {
    const double limit = fast::exp_inside(-rate);
    double product = 1, k = 0;
    do {  // four at once, which makes the branch easier to predict
      for (int i = 0; i < 4; ++i) {
        product *= words.unit();
        k += product > limit ? 1 : 0;
      }
    } while (product > limit);
    return k;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  while (true) {
    const double u = words.unit() - 0.5;
    const double v = words.unit();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double left = std::log(v * inverse_alpha / (a / (us * us) + b));
    if (left <= k * std::log(rate) - rate - log_factorial(k)) return k;
  }
}

namespace detail {

/// A binomial draw for few expected successes: jumps from success to success.
template <typename Words>
PHI_HD double draw_few_successes(Words& words, double n, double p) {
  const double log_q = std::log1p(-p);
  double trials = 0;
  for (double successes = 0;; ++successes) {
    trials += std::ceil(std::log(words.unit()) / log_q);
    if (trials > n) return successes;
  }
}

/// A binomial draw by W. Hoermann's BTRS, "The generation of binomial random variates", 1993.
template <typename Words>
PHI_HD double draw_many_successes(Words& words, double n, double p) {
  const double q = 1 - p;
  const double deviation = std::sqrt(n * p * q);
  const double b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double odds = p / q;
  const double alpha = (2.83 + 5.1 / b) * deviation;
  const double mode = std::floor((n + 1) * p);
  while (true) {
    const double u = words.unit() - 0.5;
    const double v = words.unit();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + n * p + 0.5);
    if (us >= 0.07 && v <= 0.92 - 4.2 / b) return k;
    if (k < 0 || k > n) continue;
    const double left = std::log(v * alpha / (a / (us * us) + b));
    const double right = (mode + 0.5) * std::log((mode + 1) / (odds * (n - mode + 1))) +
                         (n + 1) * std::log((n - mode + 1) / (n - k + 1)) +
                         (k + 0.5) * std::log(odds * (n - k + 1) / (k + 1)) + stirling_rest(mode) +
                         stirling_rest(n - mode) - stirling_rest(k) - stirling_rest(n - k);
    if (left <= right) return k;
  }
}

}  // namespace detail

/// The number of successes in n trials (an integer) of probability p each.
template <typename Words>
PHI_HD double draw_binomial(Words& words, double n, double p) {
  const bool mirrored = p > 0.5;
  const double rarer = mirrored ? 1 - p : p;
  double successes = 0;
  if (n > 0 && rarer > 0) {
    successes = n * rarer < 10 ? detail::draw_few_successes(words, n, rarer)
                               : detail::draw_many_successes(words, n, rarer);
  }
  return mirrored ? n - successes : successes;
}

/// The quantile of the standard normal distribution for p in (0, 1). Below the range of
/// fast::normal_quantile(), it starts from the leading term of the tail and applies Newton steps to
/// log(p), which is nearly a parabola there.
PHI_HD double normal_quantile(double p) {
  if (p >= fast::kLeastProbability) return fast::normal_quantile(p);
  const double t = -2 * std::log(p);
  double z = -std::sqrt(t - std::log(6.283185307179586 * t));
  for (int step = 0; step < 3; ++step) {
    const double density = 0.3989422804014327 * std::exp(-0.5 * z * z);
    const double below = 0.5 * std::erfc(-0.7071067811865476 * z);
    if (below > 0) z -= (std::log(below) - std::log(p)) * below / density;
  }
  return z;
}

/// The midpoint of the interval of (0, 1) that the word represents.
PHI_HD double unit_of(uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

/// The normal distribution of `mean` and `std` truncated to [a, b], drawn by its inverse. A range
/// above the mean is mirrored, because the inverse is accurate in the lower tail.
class TruncatedNormal {
 public:
  TruncatedNormal(double mean, double std, double a, double b) : mean_(mean), std_(std) {
    const double scale = std > 0 ? std : 1.0;
    lowest_ = (a - mean) / scale;
    highest_ = (b - mean) / scale;
    if (lowest_ > 0) {  // mirrors the range
      const double highest = -lowest_;
      lowest_ = -highest_;
      highest_ = highest;
      std_ = -std_;
    }
    const auto below = [](double z) { return 0.5 * std::erfc(-0.7071067811865476 * z); };
    from_ = below(lowest_);
    width_ = below(highest_) - from_;
  }

  PHI_HD double operator()(uint32_t word) const {
    const double p = probability(word);
    return within(p > 0 && p < 1 ? normal_quantile(p) : highest_);
  }

  /// Whether all probabilities are in the range of fast::normal_quantile().
  bool is_inside() const { return from_ >= fast::kLeastProbability; }
  /// Like operator(), if is_inside().
  PHI_HD double inside(uint32_t word) const {
    const double p = probability(word);
    return within(p < 1 ? fast::normal_quantile(p < 1 ? p : 0.5) : highest_);
  }

 private:
  PHI_HD double probability(uint32_t word) const { return from_ + width_ * unit_of(word); }
  PHI_HD double within(double z) const {
    return mean_ + std_ * (z < lowest_ ? lowest_ : (z > highest_ ? highest_ : z));
  }

  double mean_;
  double std_;  // negative if the range is mirrored
  double lowest_ = 0;
  double highest_ = 0;
  double from_ = 0;
  double width_ = 0;
};

}  // namespace phi
