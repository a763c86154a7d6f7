// Matches the names of a model with those of a checkpoint.
#include "api/nn/checkpoint.h"

#include <vector>

#include "api/tensor/checkpoint.h"
#include "distributed/checkpoint/view.h"

namespace phi::nn {

namespace checkpoint = distributed::checkpoint;

namespace {

NamedTensors all_of(const Module& model) {
  NamedTensors all = model.named_parameters();
  const NamedTensors buffers = model.named_buffers();
  all.insert(all.end(), buffers.begin(), buffers.end());
  return all;
}

}  // namespace

void save(const std::string& folder, const Module& model, checkpoint::SaveOptions options) {
  options.must_be_finite = true;
  checkpoint::save(folder, all_of(model), options);
}

checkpoint::Checkpoint weights_in(const checkpoint::Checkpoint& from) {
  std::vector<checkpoint::ViewTensor> weights;
  for (const std::string& name : from.names()) {
    if (!name.starts_with(kOptimizerStates)) weights.push_back({name, name});
  }
  return checkpoint::view(from, weights);
}

void load(const checkpoint::Checkpoint& saved, Module* model) {
  const checkpoint::Checkpoint from = weights_in(saved);
  std::vector<checkpoint::ExpectedTensor> wanted;
  for (const auto& [name, value] : all_of(*model)) wanted.push_back({name, value.meta()});
  from.check(wanted);
  model->fill([&](const std::string& name, const Tensor& now) {
    return checkpoint::deferred(from, name, now.dtype());
  });
}

}  // namespace phi::nn
