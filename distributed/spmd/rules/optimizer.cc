// Optimizer steps as factors: every tensor dim is a factor of every tensor.
#include "distributed/spmd/rules/optimizer.h"

#include <initializer_list>

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

// `states` are updated together with param; null: an absent optional state.
Factors step(const TensorSpec& param, const TensorSpec& grad,
             std::initializer_list<const TensorSpec*> states) {
  const auto names = dim_names(param.ndim());
  Factors rule;
  rule.input(param, names).input(grad, names).last_input_follows().output(names);
  for (const TensorSpec* state : states) {
    if (state == nullptr || state->absent()) {
      rule.absent_input().absent_output();
    } else {
      rule.input(*state, names).last_input_follows().output(names);
    }
  }
  return rule;
}

}  // namespace

SpmdRule SgdInferSpmd(const TensorSpec& param, const TensorSpec& grad,
                      const TensorSpec* master_param) {
  return step(param, grad, {master_param});
}

SpmdRule MomentumInferSpmd(const TensorSpec& param, const TensorSpec& grad,
                           const TensorSpec& velocity, const TensorSpec* master_param) {
  return step(param, grad, {&velocity, master_param});
}

SpmdRule AdamwInferSpmd(const TensorSpec& param, const TensorSpec& grad, const TensorSpec& moment1,
                        const TensorSpec& moment2, const TensorSpec* master_param) {
  return step(param, grad, {&moment1, &moment2, master_param});
}

}  // namespace phi::distributed
