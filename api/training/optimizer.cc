// Reduces gradients to the placements of the states, computes their norm, and runs the fused
// updates.
#include "api/training/optimizer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "api/autograd/autograd.h"
#include "api/autograd/grad_node.h"
#include "api/call/call_site.h"
#include "api/call/traced_action.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/add_n.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/divide.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/maximum.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/scaled_adamw_.h"
#include "api/generated/ops/scaled_momentum_.h"
#include "api/generated/ops/scaled_sgd_.h"
#include "api/generated/ops/sqrt.h"
#include "api/generated/ops/squared_l2_norm.h"
#include "api/generated/ops/subtract.h"
#include "api/nn/apply_placements.h"
#include "api/tensor/deferred.h"
#include "api/tensor/placeholder.h"
#include "distributed/api.h"
#include "distributed/placement/shard_further.h"
#include "distributed/reshard/execute.h"
#include "phi/common/errors.h"

namespace phi::training {

using distributed::ProcessMesh;
using distributed::TensorDistAttr;

namespace {

Tensor moved(const Tensor& x, const TensorDistAttr* attr) {
  return attr ? Tensor(distributed::reshard(x.dist(), attr)) : x;
}

// A number that is on some mesh, as a plain tensor on every rank of the job.
Tensor everywhere(const Tensor& x) {
  if (!x.is_dist()) return x;
  const CallSite::ReasonScope because("every rank needs the value");
  const ProcessMesh everyone({distributed::world_size()}, {"world"});
  return moved(x, TensorDistAttr::replicated(everyone)).local();
}

// The factor that scales gradients to the norm `clip` if theirs is larger (0: no clipping), times
// the inverse loss scale; not finite if the norm is not.
Tensor grad_factor(const Tensor& norm, const Tensor& inverse_loss_scale, double clip) {
  Tensor factor = cast(inverse_loss_scale, DataType::FLOAT64);
  if (clip > 0.0) {
    const Tensor true_norm = multiply(norm, factor);
    const Tensor excess = scale(true_norm, 1.0 / clip, 1e-6 / clip);
    factor = divide(factor, maximum(excess, full({}, 1.0, DataType::FLOAT64)));
  }
  return add(factor, subtract(norm, norm));
}

std::vector<OptimizedParameter> as_optimized(const std::vector<Tensor>& parameters) {
  std::vector<OptimizedParameter> optimized;
  for (const Tensor& parameter : parameters) optimized.push_back({parameter});
  return optimized;
}

int64_t tensor_bytes(const Tensor& x) {
  return x.defined() ? static_cast<int64_t>(x.nbytes_anywhere()) : 0;
}

}  // namespace

Optimizer::Optimizer(const OptimizerConfig& config, const std::vector<Tensor>& parameters,
                     const ZeroStage& zero)
    : Optimizer(config, as_optimized(parameters), zero) {}

Optimizer::Optimizer(const OptimizerConfig& config, std::vector<OptimizedParameter> parameters,
                     const ZeroStage& zero)
    : config_(config), zero_(zero) {
  PHI_CHECK(zero.stage >= 0 && zero.stage <= 3,
            errors::InvalidArgument("ZeRO stage {} does not exist; use 0 to 3.", zero.stage));
  for (const OptimizedParameter& parameter : parameters) slots_.push_back(make_slot(parameter));
}

Optimizer::OptimizerSlot Optimizer::make_slot(const OptimizedParameter& optimized) const {
  const NoGrad no_grad;
  Tensor parameter = optimized.value;
  PHI_CHECK(parameter.is_leaf(),
            errors::InvalidArgument("parameter {} is the result of an operation ({}) and not a "
                                    "leaf: an update of it would not reach its inputs; pass the "
                                    "tensor that it was computed from, or a detach() of this one.",
                                    parameter.to_string(), parameter.grad_link().node()->name()));
  PHI_CHECK(zero_.stage == 0 || parameter.is_dist(),
            errors::InvalidArgument("ZeRO stage {} splits states over mesh dim {}, but parameter "
                                    "{} is a plain tensor; shard_tensor it, or use stage 0.",
                                    zero_.stage, zero_.mesh_dim, parameter.to_string()));
  parameter.set_requires_grad();
  OptimizerSlot slot;
  if (parameter.is_dist()) {
    slot.attr = zero_.stage == 0 ? parameter.dist_attr()
                                 : distributed::shard_further(parameter.dist_attr(),
                                                              parameter.shape(), zero_.mesh_dim);
  }
  slot.decays = optimized.decays.value_or(parameter.ndim() > 1);
  slot.rate = optimized.rate;
  const bool is_16bit = size_of(parameter.dtype()) == 2;
  const DataType state_dtype = is_16bit ? DataType::FLOAT32 : parameter.dtype();
  const auto zeros = [&] {
    const Tensor plain = deferred_full(parameter.shape(), 0.0, state_dtype);
    return slot.attr ? distributed::shard_tensor(plain, slot.attr->mesh(), slot.attr->placements())
                     : plain;
  };
  if (config_.kind != OptimizerKind::kSgd) slot.moment1 = zeros();
  if (config_.kind == OptimizerKind::kAdamW) slot.moment2 = zeros();
  if (is_16bit) slot.master = cast(moved(parameter.detach(), slot.attr), DataType::FLOAT32);
  if (zero_.stage >= 2) {
    parameter.register_hook([attr = slot.attr](const Tensor& grad) { return moved(grad, attr); });
  }
  slot.parameter = std::move(parameter);
  return slot;
}

DataType Optimizer::scalar_dtype() const {
  const bool is_wide = std::ranges::any_of(slots_, [](const OptimizerSlot& slot) {
    return slot.parameter.dtype() == DataType::FLOAT64;
  });
  return is_wide ? DataType::FLOAT64 : DataType::FLOAT32;
}

Optimizer::StepScalars Optimizer::step_scalars(double learning_rate, double loss_scale) const {
  StepScalars step_scalars;
  const DataType dtype = scalar_dtype();
  step_scalars.learning_rate = full({}, learning_rate, dtype);
  step_scalars.step = full({}, updates_ + 1, DataType::INT64);
  if (loss_scale != 1.0) step_scalars.inverse_loss_scale = full({}, 1.0 / loss_scale, dtype);
  return step_scalars;
}

Tensor Optimizer::apply(const StepScalars& step_scalars, bool with_norm) {
  const NoGrad no_grad;
  const TracedAction traced("optimizer");
  collect_gradients();
  Tensor norm;
  std::optional<Tensor> grad_scale;
  const Tensor& inverse = step_scalars.inverse_loss_scale;
  if (inverse.defined()) grad_scale = inverse;
  if (config_.grad_clip > 0.0 || with_norm) {
    const Tensor factor = inverse.defined() ? inverse : full({}, 1.0);
    norm = grad_norm();
    grad_scale = cast(grad_factor(norm, factor, config_.grad_clip), scalar_dtype());
    norm = multiply(norm, cast(factor, DataType::FLOAT64));
  }
  for (OptimizerSlot& slot : slots_) {
    if (slot.gradient.defined()) update(slot, step_scalars, grad_scale);
    slot.gradient = Tensor();
  }
  return norm;
}

Optimizer::Outcome Optimizer::outcome_of(const Tensor& grad_norm) {
  Outcome outcome;
  if (grad_norm.defined()) outcome.grad_norm = item_or(grad_norm, 0.0);
  outcome.applied = std::isfinite(outcome.grad_norm);
  if (outcome.applied) ++updates_;
  return outcome;
}

Optimizer::Outcome Optimizer::step(double learning_rate, double loss_scale, bool check_finite) {
  return outcome_of(apply(step_scalars(learning_rate, loss_scale), check_finite));
}

void Optimizer::collect_gradients() {
  const CallSite::ReasonScope because("the gradient is summed, and split as its states are");
  for (OptimizerSlot& slot : slots_) {
    Tensor gradient = slot.parameter.grad_so_far();
    slot.parameter.clear_grad();
    if (gradient.defined()) slot.gradient = moved(gradient, slot.attr);
  }
}

// Sums of squares with equal placements are added first, so that fewer of them are reduced.
Tensor Optimizer::grad_norm() const {
  std::vector<std::pair<const TensorDistAttr*, TensorList>> sums;
  for (const OptimizerSlot& slot : slots_) {
    if (!slot.gradient.defined()) continue;
    const Tensor square = squared_l2_norm(slot.gradient);
    const TensorDistAttr* attr = square.is_dist() ? square.dist_attr() : nullptr;
    const auto known =
        std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.first == attr; });
    if (known == sums.end()) {
      sums.push_back({attr, {square}});
    } else {
      known->second.push_back(square);
    }
  }
  TensorList totals = {full({1}, 0.0, DataType::FLOAT64)};
  for (const auto& [attr, squares] : sums) {
    totals.push_back(cast(everywhere(add_n(squares)), DataType::FLOAT64));
  }
  return reshape(sqrt(add_n(totals)), Dims{});
}

void Optimizer::update(OptimizerSlot& slot, const StepScalars& step_scalars,
                       std::optional<Tensor> grad_scale) {
  const CallSite::ReasonScope because(
      "a parameter is updated in the placements of its states, and resharded back");
  Tensor part = moved(slot.parameter.detach(), slot.attr);
  const double decay = slot.decays ? config_.weight_decay : 0.0;
  const Tensor rate =
      slot.rate == 1.0 ? step_scalars.learning_rate : scale(step_scalars.learning_rate, slot.rate);
  switch (config_.kind) {
    case OptimizerKind::kSgd:
      scaled_sgd_(part, slot.gradient, slot.master, rate, grad_scale, decay);
      break;
    case OptimizerKind::kMomentum:
      scaled_momentum_(part, slot.gradient, slot.moment1, slot.master, rate, grad_scale,
                       config_.momentum, config_.nesterov, decay);
      break;
    case OptimizerKind::kAdamW:
      scaled_adamw_(part, slot.gradient, slot.moment1, slot.moment2, slot.master, rate,
                    step_scalars.step, grad_scale, config_.beta1, config_.beta2, config_.epsilon,
                    decay);
      break;
  }
  if (slot.parameter.is_dist()) slot.parameter.replace(moved(part, slot.parameter.dist_attr()));
}

std::vector<Optimizer::State> Optimizer::states() const {
  std::vector<State> states;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const OptimizerSlot& slot = slots_[i];
    if (slot.moment1.defined()) states.push_back({i, "moment1", slot.moment1});
    if (slot.moment2.defined()) states.push_back({i, "moment2", slot.moment2});
    if (slot.master) states.push_back({i, "master", *slot.master});
  }
  return states;
}

void Optimizer::restore(int64_t updates, const std::function<Tensor(const State&)>& value) {
  for (State& state : states()) {
    const Tensor given = value(state);
    PHI_CHECK(given.meta() == state.value.meta(),
              errors::InvalidArgument("'{}' of parameter {} is {}, but the value for it is {}.",
                                      state.name, state.parameter, state.value.to_string(),
                                      given.to_string()));
    state.value.replace(
        nn::apply_placements(given, state.value.is_dist() ? state.value.dist_attr() : nullptr));
  }
  updates_ = updates;
}

StateBytes Optimizer::bytes_here() const {
  StateBytes bytes;
  for (const OptimizerSlot& slot : slots_) {
    bytes.parameters += tensor_bytes(slot.parameter);
    bytes.gradients += tensor_bytes(slot.parameter.grad_so_far());
    bytes.states += tensor_bytes(slot.moment1) + tensor_bytes(slot.moment2);
    if (slot.master) bytes.states += tensor_bytes(*slot.master);
  }
  return bytes;
}

}  // namespace phi::training
