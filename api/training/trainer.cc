// Steps, run or replayed, and what came of them.
#include "api/training/trainer.h"

#include "api/generated/ops/full.h"
#include "api/tensor/placeholder.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi::training {
namespace {

constexpr double kFirstLossScale = 65536.0;  // of float16; halved until gradients are finite

}  // namespace

Trainer::Trainer(nn::Layer& model, LossFunction loss, TrainerOptions options)
    : step_(model, std::move(loss), std::move(options)) {
  if (step_.scales_loss()) loss_scale_ = LossScale(kFirstLossScale);
}

// Inputs and labels of each micro-batch, then the numbers of the update.
TensorList Trainer::inputs_of(const std::vector<Batch>& micro_batches) const {
  TensorList inputs;
  for (const Batch& batch : micro_batches) {
    inputs.push_back(step_.place_inputs(batch.inputs));
    inputs.push_back(step_.place_labels(batch.labels));
  }
  if (!step_.optimizer()) return inputs;
  auto numbers =
      step_.optimizer()->numbers(step_.options().rate.at(steps_ + 1), loss_scale_.value());
  inputs.push_back(numbers.learning_rate);
  inputs.push_back(numbers.step);
  if (!step_.scales_loss()) return inputs;
  inputs.push_back(full({}, loss_scale_.value()));
  inputs.push_back(full({}, 1.0 / loss_scale_.value()));
  return inputs;
}

// A dry run plays the function itself, which is what the program would do.
TensorList Trainer::run_step(const TensorList& inputs) {
  if (!step_.options().capture || RankContext::current().is_dry()) return step_.run(inputs);
  if (!captured_) {
    captured_ = capture([this](const TensorList& in) { return step_.run(in); }, inputs);
    captured_->limit_memory(step_.options().memory);
  }
  return captured_->run(inputs);
}

StepResult Trainer::step(const std::vector<Batch>& micro_batches) {
  const int64_t expected = step_.options().micro_batches;
  PHI_CHECK(std::ssize(micro_batches) == expected,
            errors::InvalidArgument("step {} is given {} micro-batches, and its options say {}.",
                                    steps_ + 1, micro_batches.size(), expected));
  step_.set_first_pass(static_cast<uint64_t>(steps_ * expected));
  const TensorList outputs = run_step(inputs_of(micro_batches));
  StepResult result;
  if (step_.optimizer()) {
    result.loss_scale = loss_scale_.value();
    result.learning_rate = step_.options().rate.at(steps_ + 1);
    const auto outcome = step_.optimizer()->outcome_of(outputs[1]);
    loss_scale_.update(outcome.applied);
    result.grad_norm = outcome.grad_norm;
    result.applied = outcome.applied;
  }
  result.loss = item_or(outputs[0], 0.0);
  ++steps_;
  for (const StepHook& hook : hooks_) hook(steps_, result);
  return result;
}

void Trainer::run(int64_t steps, const std::function<std::vector<Batch>(int64_t)>& batches) {
  for (int64_t i = 0; i < steps; ++i) step(batches(steps_ + 1));
}

StateBytes Trainer::state_bytes() const {
  if (!step_.optimizer()) return {.parameters = step_.model().parameter_bytes_here()};
  StateBytes bytes = step_.optimizer()->bytes_here();
  bytes.gradients = step_.gradient_bytes();
  return bytes;
}

}  // namespace phi::training
