// Trainer: steps of a model. Each takes its micro-batches through the model (forward, and backward
// where it trains) and updates the parameters.
//
//   training::Trainer trainer(model, nn::cross_entropy, {.rate = {.peak = 1e-3}});
//   trainer.on_step([](int64_t step, const auto& result) { print(step, result.loss); });
//   trainer.run(100, [&](int64_t step) { return batches_of(step); });
//
// The model may be plain or laid out on a mesh (nn::shard), also with a pipeline: the program is
// the same, and so are the losses.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/capture/program.h"
#include "api/training/loss_scale.h"
#include "api/training/step_result.h"
#include "api/training/train_step.h"
#include "api/training/trainer_numbers.h"

namespace phi::training {

/// What the model takes and what its output is compared with: plain or deferred tensors, the same
/// on every rank (each materialises its part alone), or distributed ones.
struct Batch {
  Tensor inputs;
  Tensor labels;
};

class Trainer {
 public:
  using StepHook = std::function<void(int64_t step, const StepResult& result)>;

  /// `model` must outlive the trainer. Errors: as TrainStep.
  Trainer(nn::Layer& model, LossFunction loss, TrainerOptions options = {});

  /// The next step, of as many micro-batches as options say. Every rank calls it and gets the same
  /// result. In a dry run losses and norms are 0. Errors: InvalidArgument for another number of
  /// micro-batches; NotFinite, on every rank, for numbers that are not finite (TrainerOptions);
  /// what operators throw.
  StepResult step(const std::vector<Batch>& micro_batches);
  /// `steps` steps; `batches` is asked for those of number next_batch(): 1, 2, ..
  void run(int64_t steps, const std::function<std::vector<Batch>(int64_t number)>& batches);
  /// Which batch is next: as many as there were steps, and those passed over, and one.
  int64_t next_batch() const { return numbers_.steps + numbers_.data_offset + 1; }
  /// Called after each step, in the order in which they were given.
  void on_step(StepHook hook) { hooks_.push_back(std::move(hook)); }

  /// Steps done.
  int64_t steps() const { return numbers_.steps; }
  TrainerNumbers numbers() const;
  /// Every parameter and buffer, and what the optimizer keeps of them, as a checkpoint names them:
  /// "layer0.up.weight", "optimizer.moment1.layer0.up.weight".
  nn::NamedTensors states() const;
  /// The next batch is the one behind this number.
  void pass_over(int64_t batch) { numbers_.data_offset = batch - numbers_.steps; }
  /// Goes on where another left off. `value` gives the states, each laid out as it is here.
  /// Errors: InvalidArgument for another shape or dtype.
  void restore(const TrainerNumbers& numbers,
               const std::function<Tensor(const std::string& name, const Tensor& now)>& value);
  /// Bytes of the model states on this rank, gradients as they were before the last update; only
  /// parameters where it does not train.
  StateBytes state_bytes() const;
  /// The program of all steps; nothing unless steps are captured and one has run.
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
  LossScale loss_scale_;
  std::vector<StepHook> hooks_;
  TrainerNumbers numbers_;  // updates and loss scale: as they are kept by optimizer and loss scale
};

}  // namespace phi::training
