// Samples the next token from logits, with temperature, top-k and top-p.
#pragma once

#include <cstdint>
#include <span>

namespace phi::generation {

struct SamplerOptions {
  double temperature = 1.0;  // 0: always the most likely token
  int64_t top_k = 0;         // 0: all
  double top_p = 1.0;        // probability mass to keep, more than 0
  int64_t seed = 1;
};

/// Samples a token from softmax(logits / temperature), restricted to the top_k most likely tokens
/// and then to the nucleus: the smallest set of most likely tokens that has the fraction top_p of
/// the remaining probability. At temperature 0 it returns the most likely token; among equals, the
/// first.
///
/// Randomness  Depends only on (seed, position), not on the mesh or on how the text is passed to
///             the model. Computed as argmax(logit / temperature + Gumbel noise of the token) in
///             double precision: logits that differ in their last bits, for example between meshes,
///             change the token only if the two best are almost equal.
/// Errors      InvalidArgument if a logit is not finite, naming the token.
/// Source      top-k: Fan et al. 2018; nucleus: Holtzman et al. 2020, "The Curious Case of Neural
///             Text Degeneration"; the Gumbel-max trick: Maddison et al. 2014, "A* Sampling".
int64_t sample(std::span<const float> logits, const SamplerOptions& options, int64_t position);

}  // namespace phi::generation
