// The step of a job, captured.
#include "tools/job/job_program.h"

#include <fmt/format.h>

#include "distributed/pipeline/schedules/make_schedule.h"
#include "phi/api/placeholder.h"
#include "phi/api/stablehlo/stablehlo.h"
#include "phi/api/training/pipeline.h"

namespace phi::job {
namespace {

namespace pipeline = distributed::pipeline;

// The micro-batches that are the program's inputs.
class InputModel final : public training::PipelineModel {
 public:
  InputModel(const Gpt& model, const TensorList& inputs) : model_(model), inputs_(inputs) {}

  int num_chunks() const override { return model_.num_chunks(); }
  Tensor forward(int chunk, const Tensor& input, int64_t micro_batch) override {
    const auto first = static_cast<size_t>(2 * micro_batch);
    const auto number = static_cast<uint64_t>(micro_batch);
    return model_.forward(chunk, input, {inputs_[first], inputs_[first + 1], number << 20});
  }
  const distributed::TensorDistAttr* input_attr(int chunk, const Tensor&) const override {
    return model_.input_attr(chunk);
  }

 private:
  const Gpt& model_;
  const TensorList& inputs_;
};

std::vector<Tensor> tensors_of(const Gpt& model) {
  std::vector<Tensor> tensors;
  for (const auto& [name, parameter] : model.parameters()) tensors.push_back(parameter);
  return tensors;
}

pipeline::Schedule schedule_of(const RunConfig& run, const Gpt& model) {
  const auto chunks = static_cast<int>(run.chunks);
  return pipeline::make_schedule(pipeline::parse_schedule_kind(run.schedule),
                                 model.num_chunks() / chunks, static_cast<int>(run.micro_batches),
                                 chunks);
}

const Storage* storage_of(const Tensor& x) {
  return (x.is_dist() ? x.dist().local() : x.dense()).storage().get();
}

}  // namespace

JobProgram::JobProgram(const JobConfig& config, const distributed::ProcessMesh& mesh,
                       const Gpt& model)
    : config_(config), mesh_(mesh), model_(model) {
  if (config.mode == "train") {
    optimizer_.emplace(config.optimizer.update, tensors_of(model),
                       training::ZeroStage{static_cast<int>(config.run.zero_stage), "dp"});
  }
  program_.emplace(
      capture([this](const TensorList& inputs) { return step(inputs); }, example_inputs()));
}

TensorList JobProgram::step(const TensorList& inputs) {
  const RunConfig& run = config_.run;
  InputModel model(model_, inputs);
  const auto everywhere = [&](const Tensor& x) { return distributed::reshard(x, mesh_, {}); };
  if (!optimizer_) return {everywhere(training::run_forward(model, run.micro_batches))};
  const Tensor loss = training::run_schedule(model, schedule_of(run, model_));
  const size_t numbers = inputs.size() - 2;
  const Tensor norm = optimizer_->apply(
      {.learning_rate = inputs[numbers], .step = inputs[numbers + 1], .inverse_loss_scale = {}},
      /*with_norm=*/false);
  TensorList outputs = {everywhere(loss)};
  if (norm.defined()) outputs.push_back(norm);
  return outputs;
}

TensorList JobProgram::example_inputs() const {
  const RunConfig& run = config_.run;
  const int64_t batch = run.micro_batch_size();
  const int64_t seq = config_.model.seq_len;
  TensorList inputs;
  for (int64_t m = 0; m < run.micro_batches; ++m) {
    inputs.push_back(placeholder({batch, seq}, DataType::INT64, CPUPlace()));
    inputs.push_back(placeholder({batch, seq, 1}, DataType::INT64, CPUPlace()));
  }
  if (!optimizer_) return inputs;
  inputs.push_back(placeholder({}, DataType::FLOAT32, CPUPlace()));
  inputs.push_back(placeholder({}, DataType::INT64, CPUPlace()));
  return inputs;
}

std::string JobProgram::name_of(const Tensor& parameter) const {
  const Storage* own = storage_of(parameter);
  for (const auto& [name, tensor] : model_.parameters()) {
    if (storage_of(tensor) == own) return name;
  }
  if (!optimizer_) return "";
  for (const auto& state : optimizer_->states()) {
    if (storage_of(state.value) != own) continue;
    return fmt::format("{}.{}", model_.parameters()[state.parameter].first, state.name);
  }
  return "";
}

std::vector<std::string> JobProgram::input_names() const {
  std::vector<std::string> names;
  for (int64_t m = 0; m < config_.run.micro_batches; ++m) {
    names.push_back(fmt::format("ids{}", m));
    names.push_back(fmt::format("labels{}", m));
  }
  if (optimizer_) names.insert(names.end(), {"learning_rate", "step"});
  for (const Tensor& parameter : program_->parameters()) names.push_back(name_of(parameter));
  return names;
}

std::string JobProgram::to_stablehlo() const {
  return program_->to_stablehlo({.name = config_.model.kind + "_" + config_.mode,
                                 .mesh = mesh_,
                                 .inputs = input_names(),
                                 .outputs = {"loss", "grad_norm"}});
}

}  // namespace phi::job
