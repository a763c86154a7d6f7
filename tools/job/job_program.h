// A job's step as a captured program: all micro-batches and, in mode train, the optimizer's update.
//
//   const Decoder model(config.model, config.run, mesh);
//   const JobProgram step(config, mesh, model);
//   std::cout << step.to_stablehlo();
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "phi/api/capture/program.h"
#include "phi/api/training/optimizer.h"
#include "tools/job/config.h"
#include "tools/job/gpt.h"

namespace phi::job {

class JobProgram {
 public:
  /// Captures; nothing is computed. `config` is settled: its mesh is `mesh`. Dropout draws as in
  /// the job's first step.
  /// Ranks   every rank of the job, or one that is played.
  JobProgram(const JobConfig& config, const distributed::ProcessMesh& mesh, const Gpt& model);

  /// Inputs: for each micro-batch m ids<m> i64[B,S] and labels<m> i64[B,S,1]; in mode train then
  /// learning_rate f32[] and step i64[], which counts from 1. Outputs: the mean loss f32[] and, in
  /// mode train, the gradients' norm f64[] where the job clips it.
  const Program& program() const { return *program_; }
  /// With names: parameters as the model calls them, their states as PARAMETER.moment1 and so on.
  std::string to_stablehlo() const;

 private:
  TensorList step(const TensorList& inputs);
  TensorList example_inputs() const;
  std::vector<std::string> input_names() const;
  std::string name_of(const Tensor& parameter) const;

  const JobConfig& config_;
  distributed::ProcessMesh mesh_;
  const Gpt& model_;
  std::optional<training::Optimizer> optimizer_;
  std::optional<Program> program_;
};

}  // namespace phi::job
