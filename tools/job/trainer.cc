// Steps of a job: drawn, run or replayed, and what came of them.
#include "tools/job/trainer.h"

#include "api/tensor/placeholder.h"
#include "phi/api.h"
#include "tools/job/memory_limits.h"

namespace phi::job {
namespace {

constexpr double kFirstLossScale = 65536.0;  // of float16; halved until gradients are finite

}  // namespace

Trainer::Trainer(const JobConfig& config, const distributed::ProcessMesh& mesh,
                 const data::TokenData& data, const Decoder& model)
    : config_(config), data_(data), step_(config, mesh, model) {
  if (step_.scales_loss()) loss_scale_ = training::LossScale(kFirstLossScale);
}

// Ids and labels of each micro-batch, then the numbers of the update.
TensorList Trainer::inputs_of(int64_t number) const {
  const RunConfig& run = config_.run;
  TensorList inputs;
  for (int64_t i = 0; i < run.micro_batches; ++i) {
    const int64_t row = ((number - 1) * run.micro_batches + i) * run.micro_batch_size();
    const data::Draw draw{static_cast<uint64_t>(config_.data.seed), row, run.micro_batch_size(),
                          config_.model.seq_len};
    inputs.push_back(step_.model().place_ids(data_.ids(draw)));
    inputs.push_back(step_.model().place_labels(data_.labels(draw)));
  }
  if (!step_.optimizer()) return inputs;
  auto numbers = step_.optimizer()->numbers(config_.optimizer.rate.at(number), loss_scale_.value());
  inputs.push_back(numbers.learning_rate);
  inputs.push_back(numbers.step);
  if (!step_.scales_loss()) return inputs;
  inputs.push_back(full({}, loss_scale_.value()));
  inputs.push_back(full({}, 1.0 / loss_scale_.value()));
  return inputs;
}

// A dry run plays the function itself, which is what the program would do.
TensorList Trainer::run_step(const TensorList& inputs) {
  if (!config_.run.capture || RankContext::current().is_dry()) return step_.run(inputs);
  if (!captured_) {
    captured_ = capture([this](const TensorList& in) { return step_.run(in); }, inputs);
    captured_->limit_memory(program_memory(config_.memory));
  }
  return captured_->run(inputs);
}

StepResult Trainer::step(int64_t number) {
  step_.set_first_noise(static_cast<uint64_t>((number - 1) * config_.run.micro_batches));
  const TensorList outputs = run_step(inputs_of(number));
  StepResult result;
  if (step_.optimizer()) {
    result.loss_scale = loss_scale_.value();
    result.learning_rate = config_.optimizer.rate.at(number);
    const auto outcome = step_.optimizer()->outcome_of(outputs[1]);
    loss_scale_.update(outcome.applied);
    result.grad_norm = outcome.grad_norm;
    result.applied = outcome.applied;
  }
  result.loss = item_or(outputs[0], 0.0);
  return result;
}

training::StateBytes Trainer::state_bytes() const {
  if (!step_.optimizer()) return {.parameters = step_.model().parameter_bytes_here()};
  training::StateBytes bytes = step_.optimizer()->bytes_here();
  bytes.gradients = step_.gradient_bytes();
  return bytes;
}

}  // namespace phi::job
