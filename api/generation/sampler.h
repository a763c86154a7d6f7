// Choice of the next token from logits: temperature, top-k, top-p.
#pragma once

#include <cstdint>
#include <span>

namespace phi::generation {

struct SamplerOptions {
  double temperature = 1.0;  // 0: always the most likely token
  int64_t top_k = 0;         // 0: all
  double top_p = 1.0;        // of the probability that is kept, more than 0
  int64_t seed = 1;
};

/// Draws a token of softmax(logits / temperature), cut to the top_k likeliest ones and then to the
/// nucleus: the fewest likeliest ones that hold top_p of what is left. At temperature 0 it is the
/// likeliest one; of equals the first.
///
/// Randomness  Follows (seed, position) alone: text does not depend on the mesh, nor on how it is
///             brought into the model. Drawn as argmax(logit / temperature + Gumbel noise of the
///             token), in double precision, so that logits which differ in their last bits, as on
///             different meshes, give another token only where the two best are as good as equal.
/// Errors      InvalidArgument if a logit is not finite, naming the token.
/// Source      top-k: Fan et al. 2018; nucleus: Holtzman et al. 2020, "The Curious Case of Neural
///             Text Degeneration"; the Gumbel-max trick: Maddison et al. 2014, "A* Sampling".
int64_t sample(std::span<const float> logits, const SamplerOptions& options, int64_t position);

}  // namespace phi::generation
