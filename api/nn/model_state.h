// State that all modules of a model share.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "api/nn/activation_scope.h"
#include "api/nn/layout/shard.h"
#include "api/nn/module.h"

namespace phi::nn {

struct Module::ModelState {
  uint64_t seed = 1;
  DataType dtype = DataType::FLOAT32;
  bool is_training = true;
  Recompute recompute = Recompute::kNone;
  ForwardContext forward_context;
  std::set<std::string> names;  // full names of parameters and buffers
  uint64_t dropouts = 0;
  bool drops = false;
  std::optional<Sharding> sharding;
  ActivationScope::Replace replace_activation;  // empty: none
};

}  // namespace phi::nn
