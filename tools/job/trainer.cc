// The model as a pipeline model, and one step of a job.
#include "tools/job/trainer.h"

#include "distributed/pipeline/schedules/make_schedule.h"
#include "phi/api.h"
#include "phi/api/placeholder.h"

namespace phi::job {
namespace {

namespace pipeline = distributed::pipeline;

constexpr double kFirstLossScale = 65536.0;  // of float16; halved until gradients are finite

// Micro-batches through the model.
class StepModel final : public training::PipelineModel {
 public:
  StepModel(const Decoder& model, std::vector<Batch> batches)
      : model_(model), batches_(std::move(batches)) {}

  int num_chunks() const override { return model_.num_chunks(); }
  Tensor forward(int chunk, const Tensor& input, int64_t micro_batch) override {
    return model_.forward(chunk, input, batches_[static_cast<size_t>(micro_batch)]);
  }
  const distributed::TensorDistAttr* input_attr(int chunk, const Tensor&) const override {
    return model_.input_attr(chunk);
  }

 private:
  const Decoder& model_;
  const std::vector<Batch> batches_;
};

std::vector<Tensor> tensors_of(const Decoder& model) {
  std::vector<Tensor> tensors;
  for (const auto& [name, parameter] : model.parameters()) tensors.push_back(parameter);
  return tensors;
}

}  // namespace

Trainer::Trainer(const JobConfig& config, const distributed::ProcessMesh& mesh,
                 const TextData& text, const Decoder& model)
    : config_(config), mesh_(mesh), text_(text), model_(model) {
  if (config.mode != "train") return;
  const RunConfig& run = config.run;
  optimizer_.emplace(config.optimizer.update, tensors_of(model),
                     training::ZeroStage{static_cast<int>(run.zero_stage), "dp"});
  const auto chunks = static_cast<int>(run.chunks);
  program_.emplace(pipeline::make_schedule(pipeline::parse_schedule_kind(run.schedule),
                                           model.num_chunks() / chunks,
                                           static_cast<int>(run.micro_batches), chunks));
  if (run.dtype == DataType::FLOAT16) loss_scale_ = training::LossScale(kFirstLossScale);
}

// Ids and labels of each micro-batch, then the numbers of the update.
TensorList Trainer::inputs_of(int64_t number) const {
  const RunConfig& run = config_.run;
  TensorList inputs;
  for (int64_t i = 0; i < run.micro_batches; ++i) {
    const int64_t row = ((number - 1) * run.micro_batches + i) * run.micro_batch_size();
    const Draw draw{static_cast<uint64_t>(config_.data.seed), row, run.micro_batch_size(),
                    config_.model.seq_len};
    inputs.push_back(model_.place_ids(text_.ids(draw)));
    inputs.push_back(model_.place_labels(text_.labels(draw)));
  }
  if (!optimizer_) return inputs;
  auto numbers = optimizer_->numbers(config_.optimizer.rate.at(number), loss_scale_.value());
  inputs.push_back(numbers.learning_rate);
  inputs.push_back(numbers.step);
  if (!scales_loss()) return inputs;
  inputs.push_back(full({}, loss_scale_.value()));
  inputs.push_back(full({}, 1.0 / loss_scale_.value()));
  return inputs;
}

TensorList Trainer::run(const TensorList& inputs) {
  const auto micro_batches = static_cast<size_t>(config_.run.micro_batches);
  std::vector<Batch> batches;
  for (size_t i = 0; i < micro_batches; ++i) {
    batches.push_back({inputs[2 * i], inputs[2 * i + 1], (first_noise_ + i) << 20});
  }
  StepModel model(model_, std::move(batches));
  if (!optimizer_) return {everywhere(training::run_forward(model, config_.run.micro_batches))};
  const TensorList numbers(inputs.begin() + static_cast<int64_t>(2 * micro_batches), inputs.end());
  return train(model, numbers);
}

TensorList Trainer::train(training::PipelineModel& model, const TensorList& numbers) {
  const Tensor loss_scale = scales_loss() ? numbers[2] : Tensor();
  const Tensor loss = training::run_schedule(model, *program_, loss_scale);
  gradient_bytes_ = optimizer_->bytes_here().gradients;
  const Tensor norm =
      optimizer_->apply({.learning_rate = numbers[0],
                         .step = numbers[1],
                         .inverse_loss_scale = scales_loss() ? numbers[3] : Tensor()},
                        scales_loss());
  return {everywhere(loss), norm};
}

// A dry run plays the function itself, which is what the program would do.
TensorList Trainer::run_step(const TensorList& inputs) {
  if (!config_.run.capture || RankContext::current().is_dry()) return run(inputs);
  if (!captured_) captured_ = capture([this](const TensorList& in) { return run(in); }, inputs);
  return captured_->run(inputs);
}

StepResult Trainer::step(int64_t number) {
  first_noise_ = static_cast<uint64_t>((number - 1) * config_.run.micro_batches);
  const TensorList outputs = run_step(inputs_of(number));
  StepResult result;
  if (optimizer_) {
    result.loss_scale = loss_scale_.value();
    result.learning_rate = config_.optimizer.rate.at(number);
    const auto outcome = optimizer_->outcome_of(outputs[1]);
    loss_scale_.update(outcome.applied);
    result.grad_norm = outcome.grad_norm;
    result.applied = outcome.applied;
  }
  result.loss = item_or(outputs[0], 0.0);
  return result;
}

// float16 alone: elsewhere the scale is 1.
bool Trainer::scales_loss() const { return config_.run.dtype == DataType::FLOAT16; }

Tensor Trainer::everywhere(const Tensor& loss) const {
  return distributed::reshard(loss, mesh_, {});
}

training::StateBytes Trainer::state_bytes() const {
  if (!optimizer_) return {.parameters = model_.parameter_bytes_here()};
  training::StateBytes bytes = optimizer_->bytes_here();
  bytes.gradients = gradient_bytes_;
  return bytes;
}

}  // namespace phi::job
