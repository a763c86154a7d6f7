// Generator: tokens that a model writes, one behind the other.
//
//   generation::Generator generator(model, prompt, {.window = 256, .sampling = {.seed = 4}});
//   for (int64_t i = 0; i < 64; ++i) ids.push_back(generator.next());
//
// Each token costs one position of the model: keys and values of those before are kept. The model
// sees at most `window` positions. Where the text becomes longer it goes on from its last half
// window, which is read again from position 0: so one token in window / 2 costs half a window.
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
  int64_t num_tokens = 0;  // only the first ones of the vocabulary are chosen; 0: all
  SamplerOptions sampling{};
  /// One program reads one token after the other, also those of the prompt.
  bool capture = false;
  bool graphs = true;      // on GPUs it is launched as CUDA graphs (Program::use_graphs)
  ProgramMemory memory{};  // of that program
};

class Generator {
 public:
  /// `model`, ids i64[1,S] to logits f32[1,S,vocab], plain or laid out on a mesh, must outlive the
  /// generator. What of it looks at other positions than its own are nn::Attention modules. It does
  /// not train from here on: nothing is dropped. Errors: InvalidArgument without a window, for an
  /// empty prompt or one longer than the window.
  Generator(nn::Layer& model, std::vector<int64_t> prompt, const GeneratorOptions& options);

  /// The next token. Every rank calls it and gets the same one.
  int64_t next();
  /// The prompt and what was generated so far.
  const std::vector<int64_t>& tokens() const { return tokens_; }
  /// Nothing before the first token, and unless it is captured.
  const std::optional<Program>& program() const { return program_; }

 private:
  std::vector<int64_t> unread();
  // Of what follows `ids`: f32[1,1,num_tokens], on every rank.
  Tensor logits_behind(const std::vector<int64_t>& ids);
  TensorList run(const TensorList& inputs);
  Tensor run_captured(int64_t id);

  const nn::Layer& model_;
  GeneratorOptions options_;
  nn::KeyValueCache cache_;
  std::vector<int64_t> tokens_;
  size_t read_ = 0;  // tokens that the cache knows of
  std::optional<Program> program_;
};

}  // namespace phi::generation
