// ActivationScope: observes and replaces the activations whose placements a layout may fix.
#pragma once

#include <functional>

#include "api/nn/module.h"

namespace phi::nn {

/// For its lifetime, each activation slot of a model's modules has the result of `replace` instead
/// of the layout's placements. A planner marks the slots of a captured model with it.
class ActivationScope {
 public:
  /// Returns the activation to use: a tensor of the same shape and dtype as `x`.
  using Replace =
      std::function<Tensor(const Module& module, ActivationSlot activation, const Tensor& x)>;

  /// `module`: any module of the model.
  ActivationScope(const Module& module, Replace replace);
  ~ActivationScope();
  ActivationScope(const ActivationScope&) = delete;
  ActivationScope& operator=(const ActivationScope&) = delete;

 private:
  const Module& module_;
  Replace before_;
};

}  // namespace phi::nn
