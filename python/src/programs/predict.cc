// Binds predictions: a step of a Python function, on a machine that need not exist here.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "api/simulation/predict_step.h"
#include "distributed/simulator/find_machine.h"
#include "phi/common/errors.h"
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

}  // namespace

void bind_predictions(nb::module_& module) {
  module.def("simulate", &simulate_step, nb::arg("make_step"), nb::arg("mesh"), nb::arg("machine"),
             nb::arg("items"), nb::arg("steps"));
}

}  // namespace phi::python
