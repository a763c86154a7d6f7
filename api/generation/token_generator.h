// TokenGenerator: generates tokens with a model, one after the other.
//
//   generation::TokenGenerator generator(model, prompt, {.window = 256, .sampling = {.seed = 4}});
//   for (int64_t i = 0; i < 64; ++i) ids.push_back(generator.next());
//
// Each token runs one position of the model: keys and values of earlier positions are cached. The
// model sees at most `window` positions. When the window is full, generation continues from the
// last half window, which is processed again from position 0; one token in window / 2 therefore
// costs half a window.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/capture/program.h"
#include "api/generation/sampler.h"
#include "api/nn/key_value_cache.h"

namespace phi::generation {

struct GeneratorOptions {
  int64_t window = 0;      // positions that the model sees
  int64_t num_tokens = 0;  // only the first ones of the vocabulary are sampled; 0: all
  SamplerOptions sampling{};
  /// Captures one program, which processes one token per run, also those of the prompt.
  bool capture = false;
  bool graphs = true;      // on GPUs, launch the program as CUDA graphs (Program::use_graphs)
  ProgramMemory memory{};  // memory limits of the program
};

class TokenGenerator {
 public:
  /// `model` maps ids i64[1,S] to logits f32[1,S,vocab]; it may be plain or sharded and must
  /// outlive the generator. Only its nn::Attention modules may depend on other positions. The
  /// constructor turns training mode off, so nothing is dropped.
  /// Errors: InvalidArgument without a window, for an empty prompt or one longer than the window.
  TokenGenerator(nn::Layer& model, std::vector<int64_t> prompt, const GeneratorOptions& options);

  /// Returns the next token. Every rank calls it and returns the same token.
  int64_t next();
  /// The prompt and the tokens generated so far.
  const std::vector<int64_t>& tokens() const { return tokens_; }
  /// The captured program; nothing before the first token or without `capture`.
  const std::optional<Program>& program() const { return program_; }

 private:
  std::vector<int64_t> unread();
  // Logits of the token that follows `ids`: f32[1,1,num_tokens], on every rank.
  Tensor logits_after(const std::vector<int64_t>& ids);
  TensorList run(const TensorList& inputs);
  Tensor run_captured(int64_t id);

  const nn::Layer& model_;
  GeneratorOptions options_;
  nn::KeyValueCache cache_;
  std::vector<int64_t> tokens_;
  size_t read_ = 0;  // number of cached tokens
  std::optional<Program> program_;
};

}  // namespace phi::generation
