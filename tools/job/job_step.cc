// The model as a pipeline model, and one step of a job.
#include "tools/job/job_step.h"

#include "distributed/pipeline/schedules/make_schedule.h"

namespace phi::job {
namespace {

namespace pipeline = distributed::pipeline;

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

JobStep::JobStep(const JobConfig& config, const distributed::ProcessMesh& mesh,
                 const Decoder& model)
    : config_(config), mesh_(mesh), model_(model) {
  if (config.mode != "train") return;
  const RunConfig& run = config.run;
  optimizer_.emplace(config.optimizer.update, tensors_of(model),
                     training::ZeroStage{static_cast<int>(run.zero_stage), "dp"});
  const auto chunks = static_cast<int>(run.chunks);
  program_.emplace(pipeline::make_schedule(pipeline::parse_schedule_kind(run.schedule),
                                           model.num_chunks() / chunks,
                                           static_cast<int>(run.micro_batches), chunks));
}

TensorList JobStep::run(const TensorList& inputs) {
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

TensorList JobStep::train(training::PipelineModel& model, const TensorList& numbers) {
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

Tensor JobStep::everywhere(const Tensor& loss) const {
  return distributed::reshard(loss, mesh_, {});
}

}  // namespace phi::job
