// Trainer: runs training steps of a model. A step passes its micro-batches forward and, if it
// trains, backward, and then updates the parameters.
//
//   training::Trainer trainer(model, nn::cross_entropy, {.rate = {.peak = 1e-3}});
//   trainer.on_step([](int64_t step, const auto& result) { print(step, result.loss); });
//   trainer.run(100, [&](int64_t step) { return batches_of(step); });
//
// The model may be plain or sharded over a mesh (nn::shard), also with a pipeline; the program and
// the losses are the same.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/capture/program.h"
#include "api/training/loss_scaler.h"
#include "api/training/step_result.h"
#include "api/training/train_step.h"
#include "api/training/trainer_counters.h"

namespace phi::training {

/// Inputs of the model and labels for the loss: plain or deferred tensors, equal on every rank
/// (each materialises only its shards), or distributed ones.
struct Batch {
  Tensor inputs;
  Tensor labels;
};

class Trainer {
 public:
  using StepHook = std::function<void(int64_t step, const StepResult& result)>;

  /// `model` must outlive the trainer. Errors: as TrainStep.
  Trainer(nn::Layer& model, LossFunction loss, TrainerOptions options = {});

  /// Runs the next step, on options().micro_batches micro-batches. Every rank calls it and returns
  /// the same result. In a dry run losses and norms are 0.
  /// Errors: InvalidArgument for another number of micro-batches; NotFinite, on every rank, for
  /// values that are not finite (TrainerOptions::on_nonfinite); errors of operators.
  StepResult step(const std::vector<Batch>& micro_batches);
  /// Runs `steps` steps. `batches` is called with next_batch(), which counts from 1.
  void run(int64_t steps, const std::function<std::vector<Batch>(int64_t number)>& batches);
  /// The number of the next batch: completed steps + skipped batches + 1.
  int64_t next_batch() const { return counters_.steps + counters_.data_offset + 1; }
  /// Adds a function to be called after each step, in the order of addition.
  void on_step(StepHook hook) { hooks_.push_back(std::move(hook)); }

  /// Number of completed steps.
  int64_t steps() const { return counters_.steps; }
  TrainerCounters counters() const;
  /// All parameters, buffers and optimizer states under their checkpoint names: "layer0.up.weight",
  /// "optimizer.moment1.layer0.up.weight".
  nn::NamedTensors states() const;
  /// Skips batches: the next batch is `batch` + 1.
  void skip_to(int64_t batch) { counters_.data_offset = batch - counters_.steps; }
  /// Restores saved state. `value` returns the value of each of states(); it is resharded to the
  /// state's placements.
  /// Errors: InvalidArgument for another shape or dtype.
  void restore(const TrainerCounters& counters,
               const std::function<Tensor(const std::string& name, const Tensor& now)>& value);
  /// Bytes of the model states on this rank; those of gradients are from before the last update.
  /// Only parameters if the trainer does not train.
  StateBytes state_bytes() const;
  /// The captured step; nothing unless steps are captured and one has run.
  const std::optional<Program>& program() const { return captured_; }
  const TrainStep& train_step() const { return step_; }

 private:
  TensorList inputs_of(const std::vector<Batch>& micro_batches) const;
  GeneratorState draws_of_step() const;
  TensorList run_step(const TensorList& inputs);
  std::string name_of(const Optimizer::State& state) const;
  StepResult result_of(const TensorList& outputs);
  void check_result(const StepResult& result, const TensorList& inputs);
  void check_goes_on() const;

  TrainStep step_;
  std::optional<Program> captured_;
  LossScaler loss_scale_;
  std::vector<StepHook> hooks_;
  // The optimizer and loss_scale_ have the current number of updates and loss scale.
  TrainerCounters counters_;
};

}  // namespace phi::training
