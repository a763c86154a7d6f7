// The model as a pipeline model, and one step of a job.
#include "tools/job/trainer.h"

#include "distributed/pipeline/schedules/make_schedule.h"
#include "phi/api/placeholder.h"

namespace phi::job {
namespace {

namespace pipeline = distributed::pipeline;

constexpr double kFirstLossScale = 65536.0;  // of float16; halved until gradients are finite

// The micro-batches of one step through the model.
class StepModel final : public training::PipelineModel {
 public:
  StepModel(const JobConfig& config, const TextData& text, const Decoder& model, int64_t step)
      : config_(config), text_(text), model_(model), step_(step) {}

  int num_chunks() const override { return model_.num_chunks(); }
  Tensor forward(int chunk, const Tensor& input, int64_t micro_batch) override {
    const RunConfig& run = config_.run;
    const int64_t number = (step_ - 1) * run.micro_batches + micro_batch;
    const Draw draw{static_cast<uint64_t>(config_.data.seed), number * run.micro_batch_size(),
                    run.micro_batch_size(), config_.model.seq_len};
    return model_.forward(
        chunk, input, {text_.ids(draw), text_.labels(draw), static_cast<uint64_t>(number) << 20});
  }
  const distributed::TensorDistAttr* input_attr(int chunk, const Tensor&) const override {
    return model_.input_attr(chunk);
  }

 private:
  const JobConfig& config_;
  const TextData& text_;
  const Decoder& model_;
  const int64_t step_;
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

StepResult Trainer::step(int64_t number) {
  StepModel model(config_, text_, model_, number);
  StepResult result;
  if (!optimizer_) {
    result.loss = everywhere(training::run_forward(model, config_.run.micro_batches));
    return result;
  }
  result.loss_scale = loss_scale_.value();
  const Tensor loss = training::run_schedule(model, *program_, result.loss_scale);
  result.learning_rate = config_.optimizer.rate.at(number);
  gradient_bytes_ = optimizer_->bytes_here().gradients;
  const auto outcome = optimizer_->step(result.learning_rate, result.loss_scale,
                                        config_.run.dtype == DataType::FLOAT16);
  loss_scale_.update(outcome.applied);
  result.grad_norm = outcome.grad_norm;
  result.applied = outcome.applied;
  result.loss = everywhere(loss);
  return result;
}

double Trainer::everywhere(const Tensor& loss) const {
  return item_or(distributed::reshard(loss, mesh_, {}), 0.0);
}

training::StateBytes Trainer::state_bytes() const {
  if (!optimizer_) return {.parameters = model_.parameter_bytes_here()};
  training::StateBytes bytes = optimizer_->bytes_here();
  bytes.gradients = gradient_bytes_;
  return bytes;
}

}  // namespace phi::job
