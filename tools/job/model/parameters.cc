// Deferred initialisers under names, then values.
#include "tools/job/model/parameters.h"

#include "api/tensor/checkpoint.h"
#include "api/training/optimizer.h"
#include "phi/api.h"
#include "phi/common/errors.h"

namespace phi::job {

using distributed::Placement;
using distributed::Replicate;
using distributed::checkpoint::Checkpoint;

// FNV-1a, so that a parameter's values follow its name.
uint64_t seed_for(std::string_view name, uint64_t seed) {
  uint64_t hash = 0xcbf29ce484222325u ^ (seed * 0x9e3779b97f4a7c15u);
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

Parameters::Parameters(const ModelConfig& model, const RunConfig& run)
    : seed_(static_cast<uint64_t>(model.seed)),
      dtype_(run.dtype),
      zero_stage_(static_cast<int>(run.zero_stage)) {}

Tensor Parameters::gaussian(const std::string& name, const Dims& shape, double std,
                            const Stage& stage, Placement along_tp) {
  const Tensor whole =
      deferred_gaussian(shape, 0.0f, static_cast<float>(std), seed_for(name, seed_), dtype_);
  return declare(name, whole, stage, along_tp);
}

Tensor Parameters::filled(const std::string& name, const Dims& shape, float value,
                          const Stage& stage, Placement along_tp) {
  return declare(name, deferred_full(shape, value, dtype_), stage, along_tp);
}

Tensor Parameters::declare(const std::string& name, const Tensor& whole, const Stage& stage,
                           Placement along_tp) {
  const auto* attr = training::parameter_attr(stage.attr(Replicate(), along_tp), whole.shape(),
                                              {.stage = zero_stage_});
  layouts_.push_back(attr);
  return parameters_.emplace_back(name, whole).second;
}

void Parameters::fill(const Checkpoint* weights) {
  if (weights) {
    std::vector<distributed::checkpoint::Wanted> wanted;
    for (const auto& [name, parameter] : parameters_) wanted.push_back({name, parameter.meta()});
    weights->check(wanted);
  }
  for (size_t i = 0; i < parameters_.size(); ++i) {
    auto& [name, parameter] = parameters_[i];
    const Tensor whole =
        weights ? distributed::checkpoint::deferred(*weights, name, dtype_) : parameter;
    parameter.replace(
        distributed::shard_tensor(whole, layouts_[i]->mesh(), layouts_[i]->placements()));
  }
}

const Tensor& Parameters::at(std::string_view name) const {
  for (const auto& [known, parameter] : parameters_) {
    if (known == name) return parameter;
  }
  throw errors::NotFound("the model has no parameter '{}'.", name);
}

int64_t Parameters::count() const {
  int64_t count = 0;
  for (const auto& [name, parameter] : parameters_) count += parameter.numel();
  return count;
}

int64_t Parameters::bytes_here() const {
  int64_t bytes = 0;
  for (const auto& [name, parameter] : parameters_) {
    bytes += static_cast<int64_t>(parameter.nbytes_anywhere());
  }
  return bytes;
}

}  // namespace phi::job
