// Names of a model and of a checkpoint, brought together.
#include "api/nn/checkpoint.h"

#include <vector>

#include "api/tensor/checkpoint.h"
#include "api/tensor/held.h"
#include "distributed/checkpoint/together.h"
#include "distributed/checkpoint/view.h"
#include "phi/common/finite.h"
#include "phi/core/storage/source_bytes.h"

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

void check_finite(const NamedTensors& tensors) {
  const auto fault = checkpoint::together(distributed::World::current(), [&] {
    for (const auto& [name, value] : tensors) {
      const Held here = held_here(value);
      if (!here.array) continue;
      const HostBytes bytes(*here.array);
      PHI_CHECK(first_nonfinite(bytes.get(), value.dtype()) < 0,
                errors::OutOfRange("'{}' has numbers that are not finite; such values are not "
                                   "saved.",
                                   name));
    }
  });
  if (fault) throw Error(*fault);
}

void save(const std::string& folder, const Module& model, const checkpoint::SaveOptions& options) {
  const NamedTensors all = all_of(model);
  check_finite(all);
  checkpoint::save(folder, all, options);
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
  std::vector<checkpoint::Wanted> wanted;
  for (const auto& [name, value] : all_of(*model)) wanted.push_back({name, value.meta()});
  from.check(wanted);
  model->fill([&](const std::string& name, const Tensor& now) {
    return checkpoint::deferred(from, name, now.dtype());
  });
}

}  // namespace phi::nn
