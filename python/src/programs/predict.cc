// Binds predictions and plans: of a step of a Python function and of a model, on a machine that
// need not exist here.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/planning/plan_model.h"
#include "api/simulation/predict_step.h"
#include "distributed/planner/layout_keys.h"
#include "distributed/simulator/find_machine.h"
#include "phi/common/errors.h"
#include "python/src/base/shared_reference.h"
#include "python/src/training/nn.h"
#include "python/src/training/training.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

simulation::MakeStep caller_of(const nb::callable& make_step) {
  return [&make_step] {
    nb::object step = make_step();
    PHI_CHECK(nb::isinstance<nb::callable>(step),
              errors::InvalidArgument("simulate: make_step() must return the function of a step; "
                                      "it returned {}.",
                                      nb::cast<std::string>(nb::repr(step))));
    return [step = std::move(step)] { step(); };
  };
}

// The prediction as JSON and as a table.
std::pair<std::string, std::string> simulate_step(const nb::callable& make_step,
                                                  const distributed::ProcessMesh& mesh,
                                                  const std::string& machine, int64_t items,
                                                  int64_t steps) {
  const simulation::Prediction prediction =
      simulation::predict_step(mesh, caller_of(make_step),
                               distributed::simulator::find_machine(machine),
                               {.items = items, .steps = steps})
          .prediction;
  return {simulation::json_text(prediction), simulation::table(prediction)};
}

std::shared_ptr<nn::Layer> model_of(const nb::object& made) {
  PHI_CHECK(
      nb::isinstance<nn::Layer>(made),
      errors::InvalidArgument("plan_model: make_model() must return a module; it returned {}.",
                              nb::cast<std::string>(nb::repr(made))));
  std::shared_ptr<nn::Layer> model = shared_layer(made);
  freeze_untracked(*model);
  return model;
}

std::function<std::shared_ptr<nn::Layer>(int64_t)> short_maker_of(const nb::object& make_short) {
  if (make_short.is_none()) return nullptr;
  return [&make_short](int64_t blocks) { return model_of(make_short(blocks)); };
}

nb::dict plan_of(const nb::callable& make_model, const nb::object& make_short,
                 const nb::callable& loss, const Tensor& inputs, const Tensor& labels,
                 int64_t devices, const std::string& machine,
                 const training::TrainerOptions& options, const std::string& blocks,
                 const nn::Layout& pins, const std::vector<std::string>& fixed,
                 const planning::PlannerOptions& search) {
  distributed::LayoutSpace space;
  distributed::fix_keys(fixed, &space);
  const planning::ModelToPlan model{.make = [&] { return model_of(make_model()); },
                                    .make_short = short_maker_of(make_short),
                                    .loss = loss_from(loss),
                                    .batch = {inputs, labels},
                                    .options = options,
                                    .blocks = blocks,
                                    .pins = pins};
  const planning::ModelPlan plan = planning::plan_model(
      model, devices, distributed::simulator::find_machine(machine), search, space);
  std::vector<std::string> reasons;
  for (const planning::Reason& reason : plan.reasons) reasons.push_back(reason.to_string());
  const training::TrainerOptions& chosen = plan.laid_out.options;
  nb::dict trainer;
  trainer["micro_batches"] = chosen.micro_batches;
  trainer["schedule"] = chosen.schedule;
  trainer["recompute"] = std::string(distributed::name_of(chosen.recompute));
  nb::dict out;
  out["mesh"] = plan.laid_out.mesh;
  out["layout"] = plan.laid_out.layout;
  out["trainer"] = trainer;
  out["reasons"] = reasons;
  out["plans"] = json_text(plan);
  out["table"] = table(plan);
  return out;
}

}  // namespace

void bind_predictions(nb::module_& module) {
  nb::class_<planning::PlannerOptions>(module, "PlannerOptions", "How plan_model() searches.")
      .def(
          "__init__",
          [](planning::PlannerOptions* self, int64_t memory_bytes, int64_t finalists,
             double time_limit_s) {
            PHI_CHECK(finalists >= 1, errors::InvalidArgument(
                                          "plan_model: {} finalists; pass 1 or more.", finalists));
            new (self) planning::PlannerOptions{.memory_bytes = memory_bytes,
                                                .finalists = static_cast<size_t>(finalists),
                                                .time_limit_s = time_limit_s};
          },
          nb::arg("memory_bytes"), nb::arg("finalists"), nb::arg("time_limit_s"));
  module.def("plan_model", &plan_of, nb::arg("make_model"), nb::arg("make_short").none(),
             nb::arg("loss"), nb::arg("inputs"), nb::arg("labels"), nb::arg("devices"),
             nb::arg("machine"), nb::arg("options"), nb::arg("blocks"), nb::arg("pins"),
             nb::arg("fixed"), nb::arg("search"));
  module.def("simulate", &simulate_step, nb::arg("make_step"), nb::arg("mesh"), nb::arg("machine"),
             nb::arg("items"), nb::arg("steps"));
}

}  // namespace phi::python
