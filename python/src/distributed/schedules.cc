// Binds a schedule together with its simulated cost and its drawing.
#include "python/src/distributed/schedules.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "distributed/pipeline/schedules/check.h"
#include "distributed/pipeline/schedules/drawing.h"
#include "distributed/pipeline/schedules/make_schedule.h"
#include "distributed/simulator/simulate_schedule.h"

namespace phi::python {

namespace nb = nanobind;
namespace pipeline = distributed::pipeline;

namespace {

struct DrawnSchedule {
  pipeline::Schedule schedule;
  pipeline::Simulation simulation;
};

DrawnSchedule make_drawn_schedule(const std::string& kind, int stages, int micro_batches,
                                  int chunks, const pipeline::ActionTimes& times) {
  DrawnSchedule made{
      pipeline::make_schedule(pipeline::parse_schedule_kind(kind), stages, micro_batches, chunks),
      {}};
  pipeline::check(made.schedule);
  made.simulation = distributed::simulator::simulate_schedule(made.schedule, times);
  return made;
}

// The actions of each stage, such as "F0 F1 B0 B1". If there are several chunks, with the chunk:
// "F0.1".
std::vector<std::vector<std::string>> actions_of(const pipeline::Schedule& schedule) {
  std::vector<std::vector<std::string>> stages;
  for (const auto& actions : schedule.actions) {
    auto& texts = stages.emplace_back();
    for (const pipeline::Action& action : actions) {
      std::string text = fmt::format("{}{}", letter_of(action.kind), action.micro_batch);
      if (schedule.chunks > 1) text += fmt::format(".{}", action.chunk);
      texts.push_back(std::move(text));
    }
  }
  return stages;
}

std::vector<std::string> kinds() {
  std::vector<std::string> names;
  for (const pipeline::ScheduleKind kind : pipeline::kScheduleKinds) {
    names.emplace_back(name_of(kind));
  }
  return names;
}

}  // namespace

void bind_schedules(nb::module_& module) {
  module.def("schedule_kinds", &kinds, "Return the names of schedules.");
  nb::class_<DrawnSchedule>(
      module, "Schedule",
      "A pipeline schedule: the order of operations on each stage, and their cost.\n\n"
      "    Schedule('zb_h1', stages=4, micro_batches=8)\n\n"
      "The cost follows from the times of one micro-batch on a stage.")
      .def(
          "__init__",
          [](DrawnSchedule* self, const std::string& kind, int stages, int micro_batches,
             int chunks, double forward, double backward, double weight, double comm) {
            new (self) DrawnSchedule(make_drawn_schedule(kind, stages, micro_batches, chunks,
                                                         {forward, backward, weight, comm}));
          },
          nb::arg("kind"), nb::arg("stages"), nb::arg("micro_batches"), nb::arg("chunks") = 1,
          nb::kw_only(), nb::arg("forward") = 1.0, nb::arg("backward") = 1.0,
          nb::arg("weight") = 1.0, nb::arg("comm") = 0.0)
      .def_prop_ro("kind", [](const DrawnSchedule& s) { return s.schedule.kind; })
      .def_prop_ro("stages", [](const DrawnSchedule& s) { return s.schedule.stages; })
      .def_prop_ro("micro_batches", [](const DrawnSchedule& s) { return s.schedule.micro_batches; })
      .def_prop_ro("chunks", [](const DrawnSchedule& s) { return s.schedule.chunks; })
      .def_prop_ro(
          "actions", [](const DrawnSchedule& s) { return actions_of(s.schedule); },
          "Operations by stage: 'F0' forward, 'B0' backward, 'W0' weight gradients.")
      .def_prop_ro(
          "cost", [](const DrawnSchedule& s) { return s.simulation.cost; },
          "Time from the first start on any stage to the last end.")
      .def_prop_ro(
          "bubble_rate", [](const DrawnSchedule& s) { return s.simulation.bubble_rate; },
          "Fraction of the cost in which a stage is idle.")
      .def(
          "to_text",
          [](const DrawnSchedule& s, int width) {
            return draw_text(s.schedule, s.simulation, {.width = width});
          },
          nb::arg("width") = 100)
      .def("to_svg", [](const DrawnSchedule& s) { return draw_svg(s.schedule, s.simulation); })
      .def("_repr_html_", [](const DrawnSchedule& s) { return draw_svg(s.schedule, s.simulation); })
      .def("__repr__", [](const DrawnSchedule& s) {
        return fmt::format("{}, bubble rate {:.4f}\n{}", title_of(s.schedule),
                           s.simulation.bubble_rate,
                           draw_text(s.schedule, s.simulation, {.width = 100}));
      });
}

}  // namespace phi::python
