// Trainer: the steps of a job. Each draws its micro-batches, runs them through the model (forward,
// and backward in mode train) and updates the parameters.
#pragma once

#include <optional>

#include "phi/api/training/loss_scale.h"
#include "phi/api/training/optimizer.h"
#include "phi/api/training/pipeline.h"
#include "tools/job/model/decoder.h"
#include "tools/job/step_result.h"
#include "tools/job/text_data.h"

namespace phi::job {

class Trainer {
 public:
  /// `model` and `text` must outlive the trainer.
  Trainer(const JobConfig& config, const distributed::ProcessMesh& mesh, const TextData& text,
          const Decoder& model);

  /// Step `number`, which counts from 1. Every rank calls it and gets the same result. In a dry run
  /// losses and norms are 0.
  StepResult step(int64_t number);

  /// Bytes of the model states on this rank, gradients as they were before the last update; only
  /// parameters in mode forward.
  training::StateBytes state_bytes() const;

 private:
  double everywhere(const Tensor& loss) const;

  const JobConfig& config_;
  distributed::ProcessMesh mesh_;
  const TextData& text_;
  const Decoder& model_;
  std::optional<training::Optimizer> optimizer_;
  std::optional<training::PipelineProgram> program_;
  training::LossScale loss_scale_;
  int64_t gradient_bytes_ = 0;
};

}  // namespace phi::job
