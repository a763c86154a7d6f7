// Names of inputs and outputs of an exported step.
#include "tools/job/export_step.h"

#include <fmt/format.h>

#include "api/nn/layout/shard.h"
#include "api/stablehlo/stablehlo.h"
#include "api/tensor/placeholder.h"
#include "phi/core/rank_context.h"
#include "tools/job/build.h"

namespace phi::job {
namespace {

const Storage* storage_of(const Tensor& x) {
  return (x.is_dist() ? x.dist().local() : x.dense()).storage().get();
}

// Empty if the tensor belongs neither to the model nor to the optimizer.
std::string name_of(const training::TrainStep& step, const Tensor& parameter) {
  const Storage* own = storage_of(parameter);
  for (const auto& [name, tensor] : step.model().named_parameters()) {
    if (storage_of(tensor) == own) return name;
  }
  if (!step.optimizer()) return "";
  for (const auto& state : step.optimizer()->states()) {
    if (storage_of(state.value) == own)
      return fmt::format("{}.{}", step.optimized_names()[state.parameter], state.name);
  }
  return "";
}

// `inputs` names those of the model.
std::vector<std::string> input_names(const training::TrainStep& step, const Program& program,
                                     std::string_view inputs) {
  std::vector<std::string> names;
  for (int64_t m = 0; m < step.options().micro_batches; ++m) {
    names.push_back(fmt::format("{}{}", inputs, m));
    names.push_back(fmt::format("labels{}", m));
  }
  if (step.optimizer()) names.insert(names.end(), {"learning_rate", "step"});
  if (step.optimizer() && step.scales_loss())
    names.insert(names.end(), {"loss_scale", "inverse_loss_scale"});
  for (const Tensor& parameter : program.parameters()) names.push_back(name_of(step, parameter));
  return names;
}

Dims label_shape(const JobConfig& config) {
  const int64_t batch = config.run.micro_batch_size();
  if (config.model.takes_images()) return {batch, 1};
  return {batch, config.model.values.size("seq_len"), 1};
}

}  // namespace

std::string export_step(const JobConfig& config, const training::TrainStep& step,
                        const Program& program) {
  return program.to_stablehlo(
      {.name = config.model.kind + "_" + config.mode,
       .mesh = step.model().sharding()->mesh,
       .inputs = input_names(step, program, config.model.takes_images() ? "images" : "ids"),
       .outputs = {"loss", "grad_norm"}});
}

TensorList placeholder_inputs(const JobConfig& config, const training::TrainStep& step) {
  const RunConfig& run = config.run;
  const auto plain = [](const Dims& shape, DataType dtype) {
    return placeholder(shape, dtype, RankContext::current().place());
  };
  TensorList inputs;
  for (int64_t m = 0; m < run.micro_batches; ++m) {
    inputs.push_back(step.place_inputs(plain(input_shape(config), input_dtype(config))));
    inputs.push_back(step.place_labels(plain(label_shape(config), DataType::INT64)));
  }
  if (!step.optimizer()) return inputs;
  inputs.push_back(plain({}, DataType::FLOAT32));
  inputs.push_back(plain({}, DataType::INT64));
  if (!step.scales_loss()) return inputs;
  inputs.insert(inputs.end(), {plain({}, DataType::FLOAT32), plain({}, DataType::FLOAT32)});
  return inputs;
}

}  // namespace phi::job
