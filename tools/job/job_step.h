// JobStep: one step of a job in operators alone, from what it needs to what it gives, so that it
// can be captured as a program.
//
//   JobStep step(config, mesh, model);
//   const Program program = capture([&](const TensorList& in) { return step.run(in); }, inputs);
#pragma once

#include <optional>

#include "api/training/optimizer.h"
#include "api/training/pipeline.h"
#include "tools/job/model/decoder.h"

namespace phi::job {

class JobStep {
 public:
  /// `config` and `model` must outlive the step. In mode train an optimizer is made.
  JobStep(const JobConfig& config, const distributed::ProcessMesh& mesh, const Decoder& model);

  /// Inputs: ids and labels of each micro-batch, as Decoder::place_ids and place_labels lay them;
  /// in mode train then learning rate (float32) and step (int64, from 1), and where the loss is
  /// scaled its scale and the inverse of that (float32), all of one element.
  /// Outputs: the mean loss everywhere; in mode train the gradients' norm too, undefined where
  /// nobody asks for it.
  TensorList run(const TensorList& inputs);

  /// float16 alone: elsewhere the scale is 1.
  bool scales_loss() const { return config_.run.dtype == DataType::FLOAT16; }
  /// Micro-batch m draws its dropout as number `first + m`.
  void set_first_noise(uint64_t first) { first_noise_ = first; }

  const JobConfig& config() const { return config_; }
  const distributed::ProcessMesh& mesh() const { return mesh_; }
  const Decoder& model() const { return model_; }
  /// Nothing in mode forward.
  std::optional<training::Optimizer>& optimizer() { return optimizer_; }
  const std::optional<training::Optimizer>& optimizer() const { return optimizer_; }
  /// Of this rank, before the last update.
  int64_t gradient_bytes() const { return gradient_bytes_; }

 private:
  TensorList train(training::PipelineModel& model, const TensorList& numbers);
  Tensor everywhere(const Tensor& loss) const;

  const JobConfig& config_;
  distributed::ProcessMesh mesh_;
  const Decoder& model_;
  std::optional<training::Optimizer> optimizer_;
  std::optional<training::PipelineProgram> program_;
  int64_t gradient_bytes_ = 0;
  uint64_t first_noise_ = 0;
};

}  // namespace phi::job
