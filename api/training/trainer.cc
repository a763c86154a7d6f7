// Runs steps, captured or not, and handles their results.
#include "api/training/trainer.h"

#include <glog/logging.h>

#include <cmath>

#include "api/generated/ops/full.h"
#include "api/tensor/placeholder.h"
#include "api/training/nonfinite.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi::training {
namespace {

constexpr double kFirstLossScale = 65536.0;  // of float16; halved until gradients are finite

}  // namespace

Trainer::Trainer(nn::Layer& model, LossFunction loss, TrainerOptions options)
    : step_(model, std::move(loss), std::move(options)) {
  if (step_.scales_loss()) loss_scale_ = LossScaler(kFirstLossScale);
}

// Inputs and labels of each micro-batch, then the numbers of the update (TrainStep::run).
TensorList Trainer::inputs_of(const std::vector<Batch>& micro_batches) const {
  const MemoryUseScope use(MemoryUse::kData);
  TensorList inputs;
  for (const Batch& batch : micro_batches) {
    inputs.push_back(step_.place_inputs(batch.inputs));
    inputs.push_back(step_.place_labels(batch.labels));
  }
  if (!step_.optimizer()) return inputs;
  auto scalars = step_.optimizer()->step_scalars(step_.options().rate.at(counters_.steps + 1),
                                                 loss_scale_.value());
  inputs.push_back(scalars.learning_rate);
  inputs.push_back(scalars.step);
  if (!step_.scales_loss()) return inputs;
  inputs.push_back(full({}, loss_scale_.value()));
  inputs.push_back(full({}, 1.0 / loss_scale_.value()));
  return inputs;
}

// The generator state at which the step's first micro-batch draws.
GeneratorState Trainer::draws_of_step() const {
  const uint64_t seed = RankContext::current().generator().state().seed;
  GeneratorState state = state_in_pass(seed, static_cast<uint64_t>(counters_.passes));
  state.pass.reset();
  return state;
}

// A dry run ignores memory limits: its program holds everything on the device.
TensorList Trainer::run_step(const TensorList& inputs) {
  const Generator::Scope drawing(RankContext::current().generator(), draws_of_step());
  if (!step_.options().capture) return step_.run(inputs);
  if (!captured_) {
    captured_ = capture([this](const TensorList& in) { return step_.run(in); }, inputs);
    if (!RankContext::current().is_dry()) captured_->limit_memory(step_.options().memory);
    captured_->use_graphs(step_.options().graphs);
  }
  return captured_->run(inputs);
}

StepResult Trainer::result_of(const TensorList& outputs) {
  StepResult result;
  result.loss = item_or(outputs[0], 0.0);
  result.finite = std::isfinite(result.loss);
  if (!step_.optimizer()) return result;
  result.loss_scale = loss_scale_.value();
  result.learning_rate = step_.options().rate.at(counters_.steps + 1);
  const auto outcome = step_.optimizer()->outcome_of(outputs[1]);
  result.finite &= outcome.applied || (step_.scales_loss() && loss_scale_.value() > 1.0);
  loss_scale_.update(outcome.applied);
  result.grad_norm = outcome.grad_norm;
  result.applied = outcome.applied;
  return result;
}

StepResult Trainer::step(const std::vector<Batch>& micro_batches) {
  const int64_t expected = step_.options().micro_batches;
  PHI_CHECK(
      std::ssize(micro_batches) == expected,
      errors::InvalidArgument("step {} is passed {} micro-batches, but its options require {}.",
                              counters_.steps + 1, micro_batches.size(), expected));
  step_.set_first_micro_batch(static_cast<uint64_t>(counters_.passes));
  const TensorList inputs = inputs_of(micro_batches);
  const StepResult result = result_of(run_step(inputs));
  check_result(result, inputs);
  ++counters_.steps;
  counters_.passes += expected;
  for (const StepHook& hook : hooks_) hook(counters_.steps, result);
  return result;
}

// Every rank has the same result, so all ranks return or throw alike.
void Trainer::check_result(const StepResult& result, const TensorList& inputs) {
  const bool left_out = step_.optimizer() && !result.applied;
  counters_.left_out = left_out ? counters_.left_out + 1 : 0;
  std::string said = fmt::format("step {}: the loss is {}", counters_.steps + 1, result.loss);
  if (step_.optimizer()) said += fmt::format(", the norm of its gradients {}", result.grad_norm);
  if (!result.finite && step_.options().on_nonfinite != OnNonFinite::kSkip) {
    const Generator::Scope drawing(RankContext::current().generator(), draws_of_step());
    throw errors::NotFinite("{}.{}", said, first_nonfinite_of(step_, inputs));
  }
  if (left_out && step_.scales_loss()) {
    said += fmt::format(", in float16 with a loss scale of {:g}, which becomes {:g}",
                        result.loss_scale, loss_scale_.value());
  }
  if (RankContext::current().rank() == 0 && (left_out || !result.finite)) {
    LOG(WARNING) << said << (left_out ? "; the step is skipped." : ".");
  }
  check_goes_on();
}

void Trainer::check_goes_on() const {
  constexpr const char* kForFloat16 =
      "Train in bfloat16, which has the range of float32, or with a lower learning rate or a "
      "longer "
      "warm-up.";
  constexpr const char* kForOthers =
      "Resume from an earlier checkpoint with a lower learning rate or gradient clipping.";
  PHI_CHECK(counters_.left_out <= step_.options().max_left_out,
            errors::NotFinite("{} steps in a row were skipped, since their gradients are not "
                              "finite (loss scale {:g}). {}",
                              counters_.left_out, loss_scale_.value(),
                              step_.scales_loss() ? kForFloat16 : kForOthers));
}

void Trainer::run(int64_t steps, const std::function<std::vector<Batch>(int64_t)>& batches) {
  for (int64_t i = 0; i < steps; ++i) step(batches(next_batch()));
}

TrainerCounters Trainer::counters() const {
  TrainerCounters counters = counters_;
  counters.updates = step_.optimizer() ? step_.optimizer()->updates() : 0;
  counters.loss_scale = loss_scale_.value();
  counters.finite_steps = loss_scale_.finite_steps();
  return counters;
}

std::string Trainer::name_of(const Optimizer::State& state) const {
  return fmt::format("optimizer.{}.{}", state.name, step_.optimized_names()[state.parameter]);
}

nn::NamedTensors Trainer::states() const {
  nn::NamedTensors states = step_.model().named_parameters();
  for (auto& buffer : step_.model().named_buffers()) states.push_back(std::move(buffer));
  if (!step_.optimizer()) return states;
  for (Optimizer::State& state : step_.optimizer()->states()) {
    states.emplace_back(name_of(state), std::move(state.value));
  }
  return states;
}

// Discards the captured program, which refers to the old states.
void Trainer::restore(const TrainerCounters& counters,
                      const std::function<Tensor(const std::string&, const Tensor&)>& value) {
  captured_.reset();
  step_.model().fill(value);
  if (step_.optimizer()) {
    step_.optimizer()->restore(counters.updates, [&](const Optimizer::State& state) {
      return value(name_of(state), state.value);
    });
  }
  counters_ = counters;
  loss_scale_.restore(counters.loss_scale, counters.finite_steps);
}

StateBytes Trainer::state_bytes() const {
  if (!step_.optimizer()) return {.parameters = step_.model().parameter_bytes_here()};
  StateBytes bytes = step_.optimizer()->bytes_here();
  bytes.gradients = step_.gradient_bytes();
  return bytes;
}

}  // namespace phi::training
