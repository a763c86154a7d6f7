// Trainer: the steps of a job. Each draws its micro-batches, runs them through the model (forward,
// and backward in mode train) and updates the parameters. With run.capture the first step is
// captured as a program, and all steps run that.
#pragma once

#include <optional>

#include "phi/api/capture/program.h"
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
  // A step in operators alone: from what it needs to the loss everywhere and the gradients' norm.
  TensorList inputs_of(int64_t number) const;
  TensorList run(const TensorList& inputs);
  TensorList train(training::PipelineModel& model, const TensorList& numbers);
  TensorList run_step(const TensorList& inputs);
  bool scales_loss() const;
  Tensor everywhere(const Tensor& loss) const;

  const JobConfig& config_;
  distributed::ProcessMesh mesh_;
  const TextData& text_;
  const Decoder& model_;
  std::optional<training::Optimizer> optimizer_;
  std::optional<training::PipelineProgram> program_;
  std::optional<Program> captured_;
  training::LossScale loss_scale_;
  int64_t gradient_bytes_ = 0;
  uint64_t first_noise_ = 0;  // of the step's micro-batches
};

}  // namespace phi::job
