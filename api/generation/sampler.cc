// Samples in double precision.
#include "api/generation/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "phi/common/errors.h"
#include "phi/common/split_mix.h"

namespace phi::generation {
namespace {

void check_finite(std::span<const float> logits) {
  for (size_t i = 0; i < logits.size(); ++i) {
    PHI_CHECK(std::isfinite(logits[i]),
              errors::InvalidArgument(
                  "the logit of token {} is {}; the model's weights are corrupt.", i, logits[i]));
  }
}

// Tokens in descending order of their logits; equal ones in ascending order.
std::vector<int64_t> ranked(std::span<const float> logits) {
  std::vector<int64_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  std::stable_sort(tokens.begin(), tokens.end(),
                   [&](int64_t a, int64_t b) { return logits[a] > logits[b]; });
  return tokens;
}

// The size of the nucleus; `scores` are descending and relative to the highest.
size_t nucleus_size(std::span<const double> scores, double top_p) {
  if (top_p >= 1.0) return scores.size();
  double total = 0;
  for (double score : scores) total += std::exp(score);
  double sum = 0;
  size_t size = 0;
  while (size < scores.size() && sum < top_p * total) sum += std::exp(scores[size++]);
  return size;
}

// Standard Gumbel noise. It depends on the token, not on its rank among the most likely.
double gumbel_noise(int64_t seed, int64_t position, int64_t token) {
  uint64_t bits = 0;
  for (int64_t part : {seed, position, token}) bits = split_mix(bits ^ static_cast<uint64_t>(part));
  const double uniform = (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
  return -std::log(-std::log(uniform));
}

}  // namespace

int64_t sample(std::span<const float> logits, const SamplerOptions& options, int64_t position) {
  check_finite(logits);
  std::vector<int64_t> tokens = ranked(logits);
  if (options.temperature == 0.0) return tokens[0];
  if (options.top_k > 0) {
    tokens.resize(std::min(tokens.size(), static_cast<size_t>(options.top_k)));
  }
  const double best = logits[tokens[0]];
  std::vector<double> scores;
  for (int64_t token : tokens) scores.push_back((logits[token] - best) / options.temperature);
  scores.resize(nucleus_size(scores, options.top_p));
  for (size_t i = 0; i < scores.size(); ++i) {
    scores[i] += gumbel_noise(options.seed, position, tokens[i]);
  }
  return tokens[std::max_element(scores.begin(), scores.end()) - scores.begin()];
}

}  // namespace phi::generation
