// Micro-batches forward and backward, then the update.
#include "support/oracle/train.h"

#include <algorithm>

#include "support/oracle/model.h"
#include "support/oracle/text.h"
#include "support/oracle/update.h"

namespace oracle {
namespace {

// Gradients of the step's loss, fresh, and the loss itself.
Step differentiate(const Job& job, const std::string& text, int64_t number,
                   Parameters* parameters) {
  Step step;
  for (auto& [name, parameter] : *parameters) {
    parameter.gradient = Matrix(parameter.value.rows, parameter.value.columns);
  }
  const double share = 1.0 / static_cast<double>(job.micro_batches);
  const int64_t rows = job.global_batch / job.micro_batches;
  for (int64_t i = 0; i < job.micro_batches; ++i) {
    const int64_t first = (number - 1) * job.global_batch + i * rows;
    const Batch batch = draw(text, job.data_seed, first, rows, job.model.seq_len);
    const auto noise = static_cast<uint64_t>((number - 1) * job.micro_batches + i);
    Tape tape;
    Variable* loss = loss_of(&tape, job.model, parameters, batch, noise);
    tape.go_back(loss, share);
    step.loss += share * loss->value(0, 0);
    step.largest_gradient = std::max(step.largest_gradient, tape.largest_gradient());
  }
  for (const auto& [name, parameter] : *parameters) {
    step.largest_parameter_gradient =
        std::max(step.largest_parameter_gradient, largest_magnitude(parameter.gradient));
  }
  step.largest_gradient = std::max(step.largest_gradient, step.largest_parameter_gradient);
  return step;
}

}  // namespace

std::vector<Step> train(const Job& job, const std::set<int64_t>& left_out, Parameters* parameters) {
  const std::string text = read_text(job.paths);
  Optimizer optimizer(job.update);
  LossScale loss_scale(job.scales_loss);
  std::vector<Step> steps;
  for (int64_t number = 1; number <= job.steps; ++number) {
    Step step = differentiate(job, text, number, parameters);
    step.rate = rate_at(job.rates, number);
    step.norm = gradient_norm(*parameters);
    step.loss_scale = loss_scale.value();
    step.applied = !left_out.contains(number);
    if (step.applied) optimizer.update(parameters, step.rate, step.norm);
    loss_scale.count(step.applied);
    steps.push_back(step);
  }
  return steps;
}

}  // namespace oracle
