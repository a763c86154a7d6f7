// Optimizers of modules.
#include "api/training/shard_optimizer.h"

#include <utility>

#include "api/nn/layout/shard.h"
#include "phi/common/errors.h"

namespace phi::training {
namespace {

// Calls visit(name, tensor, group) for each parameter that is trained.
template <typename Visit>
void for_each_trained(const nn::Module& module, Visit&& visit) {
  const auto groups = module.groups();
  const auto parameters = module.named_parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (groups[i].trained) visit(parameters[i].first, parameters[i].second, groups[i]);
  }
}

ZeroStage stage_of_layout(const nn::Module& module) {
  const nn::Sharding* sharding = module.sharding();
  if (!sharding) return {};
  return {sharding->zero.stage, sharding->zero.mesh_dim};
}

}  // namespace

Optimizer shard_optimizer(const nn::Module& module, const OptimizerConfig& config,
                          std::optional<ZeroStage> zero) {
  const ZeroStage of_layout = stage_of_layout(module);
  PHI_CHECK(
      !zero || (zero->stage == 3) == (of_layout.stage == 3),
      errors::InvalidArgument("ZeRO stage {} for a model that is sharded for stage {}: only stage "
                              "3 splits parameters; call layout.zero({}) before nn::shard().",
                              zero->stage, of_layout.stage, zero->stage));
  std::vector<OptimizedParameter> optimized;
  for_each_trained(module,
                   [&](const std::string&, const Tensor& value, const nn::ParameterGroup& group) {
                     optimized.push_back({value, group.decays, group.rate});
                   });
  return {config, std::move(optimized), zero.value_or(of_layout)};
}

std::vector<std::string> optimized_names(const nn::Module& module) {
  std::vector<std::string> names;
  for_each_trained(module, [&](const std::string& name, const Tensor&, const nn::ParameterGroup&) {
    names.push_back(name);
  });
  return names;
}

}  // namespace phi::training
