// Trainer: the steps of a job. Each draws its micro-batches, runs them through the model (forward,
// and backward in mode train) and updates the parameters. With run.capture the first step is
// captured as a program, and all steps run that.
#pragma once

#include <optional>

#include "api/capture/program.h"
#include "api/data/token_data.h"
#include "api/training/loss_scale.h"
#include "tools/job/job_step.h"
#include "tools/job/step_result.h"

namespace phi::job {

class Trainer {
 public:
  /// `model` and `data` must outlive the trainer.
  Trainer(const JobConfig& config, const distributed::ProcessMesh& mesh,
          const data::TokenData& data, const Decoder& model);

  /// Step `number`, which counts from 1. Every rank calls it and gets the same result. In a dry run
  /// losses and norms are 0.
  StepResult step(int64_t number);

  /// Bytes of the model states on this rank, gradients as they were before the last update; only
  /// parameters in mode forward.
  training::StateBytes state_bytes() const;
  /// The program of all steps; nothing unless steps are captured and one has run.
  const std::optional<Program>& program() const { return captured_; }

 private:
  TensorList inputs_of(int64_t number) const;
  TensorList run_step(const TensorList& inputs);

  const JobConfig& config_;
  const data::TokenData& data_;
  JobStep step_;
  std::optional<Program> captured_;
  training::LossScale loss_scale_;
};

}  // namespace phi::job
