// Binds the optimizer and learning rates that autophi.optim uses.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/training/learning_rate.h"
#include "api/training/shard_optimizer.h"
#include "phi/common/errors.h"
#include "python/src/base/convert.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/training/nn.h"
#include "python/src/training/training.h"

namespace phi::python {

namespace nb = nanobind;
using training::LearningRateKind;
using training::LearningRateSchedule;
using training::Optimizer;
using training::OptimizerConfig;
using training::OptimizerKind;

namespace {

OptimizerKind optimizer_kind(const std::string& name) {
  if (name == "sgd") return OptimizerKind::kSgd;
  if (name == "momentum") return OptimizerKind::kMomentum;
  PHI_CHECK(
      name == "adamw",
      errors::InvalidArgument("optimizer must be 'sgd', 'momentum' or 'adamw', got '{}'.", name));
  return OptimizerKind::kAdamW;
}

void check_config(const OptimizerConfig& config) {
  const auto check_beta = [](double beta) {
    PHI_CHECK(beta >= 0.0 && beta < 1.0,
              errors::InvalidArgument("betas must be at least 0 and less than 1, got {}.", beta));
  };
  check_beta(config.beta1);
  check_beta(config.beta2);
  PHI_CHECK(config.grad_clip >= 0.0 && config.weight_decay >= 0.0,
            errors::InvalidArgument("grad_clip and weight_decay must be at least 0, got {} and {}.",
                                    config.grad_clip, config.weight_decay));
}

void bind_config(nb::module_& module) {
  nb::class_<OptimizerConfig>(module, "Config", "Hyperparameters of an optimizer.")
      .def(
          "__init__",
          [](OptimizerConfig* self, const std::string& kind, double beta1, double beta2,
             double epsilon, double weight_decay, double momentum, bool nesterov,
             double grad_clip) {
            const OptimizerConfig config{.kind = optimizer_kind(kind),
                                         .beta1 = beta1,
                                         .beta2 = beta2,
                                         .epsilon = epsilon,
                                         .weight_decay = weight_decay,
                                         .momentum = momentum,
                                         .nesterov = nesterov,
                                         .grad_clip = grad_clip};
            check_config(config);
            new (self) OptimizerConfig(config);
          },
          nb::arg("kind"), nb::kw_only(), nb::arg("beta1") = 0.9, nb::arg("beta2") = 0.999,
          nb::arg("epsilon") = 1e-8, nb::arg("weight_decay") = 0.01, nb::arg("momentum") = 0.9,
          nb::arg("nesterov") = false, nb::arg("grad_clip") = 0.0);
}

LearningRateSchedule rates(LearningRateKind kind, double peak, int64_t warmup_steps) {
  PHI_CHECK(peak >= 0.0 && warmup_steps >= 0,
            errors::InvalidArgument(
                "got a learning rate of {} with {} warm-up steps; both must be at least 0.", peak,
                warmup_steps));
  return {.kind = kind, .peak = peak, .warmup_steps = warmup_steps};
}

void bind_rates(nb::module_& module) {
  nb::class_<LearningRateSchedule>(
      module, "Rate", "Learning rates by step. Construct one with constant(), cosine() or steps().")
      .def("at", &LearningRateSchedule::at, nb::arg("step"),
           "Return the rate of step `step`, which counts from 1.")
      .def_ro("peak", &LearningRateSchedule::peak);
  module.def(
      "constant",
      [](double peak, int64_t warmup) { return rates(LearningRateKind::kConstant, peak, warmup); },
      nb::arg("peak"), nb::arg("warmup_steps") = 0,
      "Return the constant rate peak; in the first `warmup_steps` steps, peak * step / "
      "warmup_steps.");
  module.def(
      "cosine",
      [](double peak, int64_t total, int64_t warmup, double min_ratio) {
        LearningRateSchedule rate = rates(LearningRateKind::kCosine, peak, warmup);
        rate.total_steps = total;
        rate.min_ratio = min_ratio;
        return rate;
      },
      nb::arg("peak"), nb::arg("total_steps"), nb::arg("warmup_steps") = 0,
      nb::arg("min_ratio") = 0.1,
      "Return a rate that, after the warm-up, follows a cosine to min_ratio * peak at "
      "`total_steps`.");
  module.def(
      "steps",
      [](double peak, std::vector<int64_t> milestones, double gamma, int64_t warmup) {
        LearningRateSchedule rate = rates(LearningRateKind::kStep, peak, warmup);
        rate.milestones = std::move(milestones);
        rate.gamma = gamma;
        return rate;
      },
      nb::arg("peak"), nb::arg("milestones"), nb::arg("gamma") = 0.1, nb::arg("warmup_steps") = 0,
      "Return a rate that is multiplied by gamma after each of the milestones.");
}

// An optimizer and the name of its mesh dim, to which the optimizer refers.
struct OwnedOptimizer {
  std::string mesh_dim;
  std::optional<Optimizer> optimizer;
  // The positions of trained tensors, if the parameters are a list.
  std::optional<std::vector<size_t>> trained;
};

// Returns the tensors of a list that require a gradient, and their positions. The others are
// frozen.
std::vector<Tensor> trained_of(nb::handle list, std::vector<size_t>* trained) {
  std::vector<Tensor> tensors;
  size_t position = 0;
  for (nb::handle each : list) {
    if (!is_tensor(each.ptr())) refuse({"Optimizer", "parameters"}, "tensors", each.ptr());
    const Tensor& tensor = tensor_of(each.ptr());
    if (tensor.requires_grad()) {
      tensors.push_back(tensor);
      trained->push_back(position);
    }
    ++position;
  }
  PHI_CHECK(!tensors.empty(),
            errors::InvalidArgument(
                "an optimizer needs parameters: of the {} tensors in its list none requires a "
                "gradient; set requires_grad on those that are to be trained.",
                position));
  return tensors;
}

// `parameters`: a list of tensors, or a module. If no stage is passed, the module's layout
// specifies it.
void make(OwnedOptimizer& self, nb::handle parameters, const OptimizerConfig& config,
          std::optional<int> stage) {
  if (nb::isinstance<nn::Layer>(parameters)) {
    nn::Layer& module = nb::cast<nn::Layer&>(parameters);
    freeze_untracked(module);
    const GilRelease others;
    std::optional<training::ZeroStage> zero;
    if (stage) zero = {*stage, self.mesh_dim};
    self.optimizer = training::shard_optimizer(module, config, zero);
    return;
  }
  const std::vector<Tensor> tensors = trained_of(parameters, &self.trained.emplace());
  const GilRelease others;
  self.optimizer = Optimizer(config, tensors, {stage.value_or(0), self.mesh_dim});
}

std::tuple<double, bool> step_optimizer(OwnedOptimizer& self, double rate, double loss_scale,
                                        bool check_finite) {
  const GilRelease others;
  const auto outcome = self.optimizer->step(rate, loss_scale, check_finite);
  return {outcome.grad_norm, outcome.applied};
}

nb::list optimizer_states(const OwnedOptimizer& self) {
  nb::list list;
  for (const Optimizer::State& state : self.optimizer->states()) {
    const size_t parameter = self.trained ? (*self.trained)[state.parameter] : state.parameter;
    list.append(nb::make_tuple(parameter, std::string(state.name), state.value));
  }
  return list;
}

void restore(OwnedOptimizer& self, int64_t updates, const std::vector<Tensor>& values) {
  const size_t count = self.optimizer->states().size();
  PHI_CHECK(values.size() == count,
            errors::InvalidArgument("got {} values for an optimizer with {} states.", values.size(),
                                    count));
  const GilRelease others;
  size_t next = 0;
  self.optimizer->restore(updates, [&](const Optimizer::State&) { return values[next++]; });
}

}  // namespace

void bind_optimizers(nb::module_& module) {
  bind_config(module);
  bind_rates(module);
  nb::class_<OwnedOptimizer>(module, "Optimizer", "An optimizer with its states.")
      .def(
          "__init__",
          [](OwnedOptimizer* self, nb::handle parameters, const OptimizerConfig& config,
             std::optional<int> stage, const std::string& mesh_dim) {
            new (self) OwnedOptimizer{mesh_dim, std::nullopt, std::nullopt};
            make(*self, parameters, config, stage);
          },
          nb::arg("parameters"), nb::arg("config"), nb::arg("zero_stage").none() = nb::none(),
          nb::arg("zero_dim") = "dp")
      .def("step", &step_optimizer, nb::arg("learning_rate"), nb::arg("loss_scale") = 1.0,
           nb::arg("check_finite") = false,
           "Run one update from the accumulated gradients and clear them.\n\n"
           "Returns the norm of the gradients (0 if it was not computed) and whether the update "
           "was applied.")
      .def("states", &optimizer_states,
           "Return (parameter index, 'moment1' | 'moment2' | 'master', tensor) triples.")
      .def("restore", &restore, nb::arg("updates"), nb::arg("values"))
      .def_prop_ro("updates", [](const OwnedOptimizer& self) { return self.optimizer->updates(); })
      .def_prop_ro("state_bytes", [](const OwnedOptimizer& self) {
        const GilRelease others;
        return self.optimizer->bytes_here().states;
      });
  module.def(
      "optimized_names", [](const nn::Layer& model) { return training::optimized_names(model); },
      nb::arg("model"), "Return the names of the trained parameters, in the optimizer's order.");
}

}  // namespace phi::python
