// Generator: text that a model writes, a byte at a time.
//
//   Generator generator(config, mesh, model);
//   for (int64_t i = 0; i < config.generate.tokens; ++i) text += generator.next();
//
// Each byte costs one position of the model: keys and values of those before are kept. The model
// sees at most seq_len positions. Where the text becomes longer it goes on from its last half
// window, which is read again from position 0: so one byte in seq_len / 2 costs half a window.
#pragma once

#include <string>

#include "api/capture/program.h"
#include "tools/job/config.h"
#include "tools/job/model/decoder.h"

namespace phi::job {

class Generator {
 public:
  /// `config` and `model` must outlive the generator. A text without prompt follows a newline.
  Generator(const JobConfig& config, const distributed::ProcessMesh& mesh, const Decoder& model);

  /// The next byte. Every rank calls it and gets the same one. With run.capture one program reads
  /// one byte after the other, also those of the prompt.
  char next();
  /// Nothing before the first byte, and unless it is captured.
  const std::optional<Program>& program() const { return program_; }

 private:
  std::vector<int64_t> unread();
  // Of what follows `ids`: f32[1,1,256], on every rank.
  Tensor logits_behind(const std::vector<int64_t>& ids);
  TensorList run(const TensorList& inputs);
  Tensor run_captured(int64_t id);

  const JobConfig& config_;
  distributed::ProcessMesh mesh_;
  const Decoder& model_;
  KeyValueCache cache_;
  std::string text_;  // the prompt and what was generated so far
  size_t read_ = 0;   // bytes of it that the cache knows of
  std::optional<Program> program_;
};

/// Makes a job of mode generate what a Generator's model is made from: nothing is dropped, however
/// the model was trained. Errors: InvalidArgument if the prompt has more than seq_len bytes.
void settle_generate(JobConfig* config);

}  // namespace phi::job
