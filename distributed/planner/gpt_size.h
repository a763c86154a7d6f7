// Parameters and floating-point operations of a GPT model.
//
//   const GptShape shape{.layers = 96, .hidden = 12288, .sequence = 2048, .vocabulary = 51200};
//   gpt_parameters(shape);           // 174.6e9
//   gpt_model_flops(shape, 1536);    // of one step
//
// The model has learned positions, an MLP of 4 * hidden, biases, and an output layer that shares
// the embedding.
// Source: Narayanan et al. 2021, "Efficient large-scale language model training on GPU clusters
// using Megatron-LM", section 5.1 and appendix.
#pragma once

#include <cstdint>

namespace phi::distributed {

struct GptShape {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t sequence = 2048;
  int64_t vocabulary = 51200;
};

/// 12 L h^2 (1 + 13 / (12 h) + (V + s) / (12 L h)): per layer 12 h^2 weights and 13 h biases and
/// norms, and the embeddings of tokens and positions. Errors: InvalidArgument for a size below 1.
double gpt_parameters(const GptShape& shape);

/// Operations of a forward and a backward: 72 B L s h^2 (1 + s / (6 h) + V / (12 h L)) for a batch
/// of B sequences. A multiplication and its addition count as two.
double gpt_model_flops(const GptShape& shape, int64_t batch);

/// Operations of a step that recomputes every layer in the backward: 96 B s L h^2 (1 + s / (6 h) +
/// V / (16 L h)).
double gpt_recompute_flops(const GptShape& shape, int64_t batch);

}  // namespace phi::distributed
