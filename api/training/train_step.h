// TrainStep: one step as operators alone, with all varying numbers as inputs, so that it can be
// captured as a program.
//
//   TrainStep step(model, nn::cross_entropy, {.micro_batches = 4});
//   const Program program = capture([&](const TensorList& in) { return step.run(in); }, inputs);
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "api/nn/layers/sequential.h"
#include "api/training/optimizer.h"
#include "api/training/pipeline.h"
#include "api/training/trainer_options.h"

namespace phi::training {

/// The mean loss (0-D) of the model's output for some inputs and their labels.
using LossFunction = std::function<Tensor(const Tensor& output, const Tensor& labels)>;

class TrainStep {
 public:
  /// `model` must outlive the step; a pipeline needs an nn::Sequential. A step that trains
  /// constructs an optimizer, so shard the model before.
  /// Errors: InvalidArgument for micro_batches below 1, an unknown schedule, dropout in a captured
  /// step, full recompute of a model without repeated links, limited memory without capture.
  TrainStep(nn::Layer& model, LossFunction loss, TrainerOptions options);

  /// Runs the step. If forward or backward throws, no gradient is left.
  ///
  /// Shapes   Inputs: for each micro-batch the model's inputs and labels, as placed by place_inputs
  ///          and place_labels. If the step trains: learning rate (float32) and step (int64, from
  ///          1). If the loss is scaled: the scale and its inverse (float32). Numbers have one
  ///          element.
  /// Returns  The mean loss, on every rank; if the step trains, the norm of the gradients too.
  TensorList run(const TensorList& inputs);
  /// Runs forward, and backward if the step trains, like run(). Gradients accumulate and nothing is
  /// updated. Returns the mean loss, on the last stage.
  Tensor run_gradients(const TensorList& inputs);

  /// Bring inputs and labels into the placements of the model, so that a step holds only this
  /// rank's part.
  Tensor place_inputs(const Tensor& x) const;
  Tensor place_labels(const Tensor& labels) const;

  /// Only float16 models scale the loss.
  bool scales_loss() const { return model_.dtype() == DataType::FLOAT16; }
  /// Micro-batch m has the number `first + m` in its forward context, which dropout draws from.
  void set_first_micro_batch(uint64_t first) { first_micro_batch_ = first; }
  /// Makes a program that captures run() contain the random draws of these micro-batches, the same
  /// in every run. By default each run draws anew. Required for export, because an exported program
  /// has no generator.
  void fix_draws() { fixes_draws_ = true; }

  const nn::Layer& model() const { return model_; }
  nn::Layer& model() { return model_; }
  const TrainerOptions& options() const { return options_; }
  /// Names of the optimizer's parameters, in its order.
  const std::vector<std::string>& optimized_names() const { return optimized_names_; }
  /// Nothing if the step does not train.
  std::optional<Optimizer>& optimizer() { return optimizer_; }
  const std::optional<Optimizer>& optimizer() const { return optimizer_; }
  /// Bytes of gradients on this rank before the last update.
  int64_t gradient_bytes() const { return gradient_bytes_; }

 private:
  Tensor run_whole(const TensorList& inputs);
  void check_options() const;
  void make_optimizer();
  TensorList scalars_in(const TensorList& inputs) const;
  Tensor everywhere(const Tensor& loss) const;

  nn::Layer& model_;
  nn::Sequential* links_;  // null if the model is no Sequential
  LossFunction loss_;
  TrainerOptions options_;
  std::vector<std::string> optimized_names_;
  std::optional<Optimizer> optimizer_;
  std::shared_ptr<const PipelineProgram> program_;  // null: the step does not train
  int64_t gradient_bytes_ = 0;
  uint64_t first_micro_batch_ = 0;
  bool fixes_draws_ = false;
};

}  // namespace phi::training
