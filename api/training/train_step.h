// TrainStep: one step in operators alone, from what it needs to what it gives, so that it can be
// captured as a program.
//
//   TrainStep step(model, nn::cross_entropy, {.micro_batches = 4});
//   const Program program = capture([&](const TensorList& in) { return step.run(in); }, inputs);
#pragma once

#include <functional>
#include <optional>

#include "api/nn/layers/sequential.h"
#include "api/training/optimizer.h"
#include "api/training/pipeline.h"
#include "api/training/trainer_options.h"

namespace phi::training {

/// The mean loss (0-D) of what the model gives for some inputs, and of their labels.
using LossFunction = std::function<Tensor(const Tensor& output, const Tensor& labels)>;

class TrainStep {
 public:
  /// `model`, an nn::Sequential where a pipeline cuts it, must outlive the step. Where the step
  /// trains an optimizer is made: the model is laid out before. Errors: InvalidArgument for
  /// micro_batches below 1, an unknown schedule, dropout in a captured step, full recompute of a
  /// model without repeated links, limited memory without capture.
  TrainStep(nn::Layer& model, LossFunction loss, TrainerOptions options);

  /// Inputs: those of the model and labels of each micro-batch, as place_inputs and place_labels
  /// lay them; where it trains then learning rate (float32) and step (int64, from 1), and where the
  /// loss is scaled its scale and the inverse of that (float32), all of one element. Outputs: the
  /// mean loss everywhere; where it trains the gradients' norm too. Where
  /// forward or backward throws no gradient is left.
  TensorList run(const TensorList& inputs);
  /// Forward, and backward where it trains, as run() does them: gradients accumulate, and nothing
  /// is updated. The mean loss, where the last stage has it.
  Tensor run_gradients(const TensorList& inputs);

  /// Where the model takes them, so that a step begins with this rank's part alone.
  Tensor place_inputs(const Tensor& x) const;
  Tensor place_labels(const Tensor& labels) const;

  /// float16 alone: elsewhere the scale is 1.
  bool scales_loss() const { return model_.dtype() == DataType::FLOAT16; }
  /// Micro-batch m draws its dropout as number `first + m`.
  void set_first_pass(uint64_t first) { first_pass_ = first; }

  const nn::Layer& model() const { return model_; }
  nn::Layer& model() { return model_; }
  const TrainerOptions& options() const { return options_; }
  /// Names of the optimizer's parameters, in its order.
  const std::vector<std::string>& optimized_names() const { return optimized_names_; }
  /// Nothing where it does not train.
  std::optional<Optimizer>& optimizer() { return optimizer_; }
  const std::optional<Optimizer>& optimizer() const { return optimizer_; }
  /// Of this rank, before the last update.
  int64_t gradient_bytes() const { return gradient_bytes_; }

 private:
  Tensor run_whole(const TensorList& inputs);
  void check_options() const;
  void make_optimizer();
  TensorList numbers_in(const TensorList& inputs) const;
  Tensor everywhere(const Tensor& loss) const;

  nn::Layer& model_;
  nn::Sequential* links_;  // the model, if it is one
  LossFunction loss_;
  TrainerOptions options_;
  std::vector<std::string> optimized_names_;
  std::optional<Optimizer> optimizer_;
  std::optional<PipelineProgram> program_;
  int64_t gradient_bytes_ = 0;
  uint64_t first_pass_ = 0;
};

}  // namespace phi::training
