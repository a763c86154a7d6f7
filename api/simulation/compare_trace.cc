// Sums up the operators of a trace and those of a timeline.
#include "api/simulation/compare_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "phi/common/errors.h"

namespace phi::simulation {
namespace {

using distributed::simulator::Computation;
using distributed::simulator::EventSpan;
using distributed::simulator::SimulatedStep;
using distributed::simulator::WorldPrograms;
using nlohmann::json;

json load(const std::string& path) {
  std::ifstream file(path);
  PHI_CHECK(file, errors::Unavailable("cannot read the trace '{}'.", path));
  const json root = json::parse(file, nullptr, /*allow_exceptions=*/false);
  PHI_CHECK(root.is_object() && root.value("traceEvents", json()).is_array() &&
                root.value("otherData", json()).contains("job"),
            errors::InvalidArgument("'{}' is no trace that autophi run --trace writes.", path));
  return root;
}

// The step of a launch; 0: the event is no launch of a step.
int64_t step_of_launch(const json& event) {
  if (event.value("cat", "") != "op" || event.value("ph", "") != "X") return 0;
  const json args = event.value("args", json::object());
  return args.is_object() ? args.value("step", int64_t{0}) : 0;
}

}  // namespace

MeasuredTrace MeasuredTrace::read(const std::string& path) try {
  const json root = load(path);
  const json& about = root["otherData"];
  PHI_CHECK(about.value("dropped_events", 0) == 0,
            errors::InvalidArgument("the trace '{}' has dropped {} events; trace fewer steps with "
                                    "--trace_steps.",
                                    path, about.value("dropped_events", 0)));
  MeasuredTrace trace;
  trace.path_ = path;
  for (const auto& [key, value] : about["job"].items()) trace.job_[key] = value.get<std::string>();
  std::set<int64_t> steps;
  for (const json& event : root["traceEvents"]) {
    if (const int64_t step = step_of_launch(event)) steps.insert(step);
  }
  PHI_CHECK(!steps.empty(),
            errors::InvalidArgument("the trace '{}' has no operators of a step.", path));
  if (steps.size() > 1) steps.erase(steps.begin());
  trace.steps_ = static_cast<int64_t>(steps.size());
  for (const json& event : root["traceEvents"]) {
    if (!steps.contains(step_of_launch(event))) continue;
    Measured& op = trace.ops_[event.at("pid").get<size_t>()][event.at("name").get<std::string>()];
    ++op.count;
    op.seconds += event.at("dur").get<double>() * 1e-6;
  }
  return trace;
} catch (const json::exception& error) {
  throw errors::InvalidArgument("the trace '{}' cannot be read: {}.", path, error.what());
}

std::vector<ComparedOp> MeasuredTrace::worst(const WorldPrograms& world, const SimulatedStep& step,
                                             size_t most) const {
  PHI_CHECK(ops_.size() == world.num_ranks() && ops_.rbegin()->first + 1 == world.num_ranks(),
            errors::InvalidArgument("'{}' is a trace of another job: it has {} ranks, and the job "
                                    "{}.",
                                    path_, ops_.size(), world.num_ranks()));
  std::map<std::string, ComparedOp> all;
  for (size_t rank = 0; rank < world.num_ranks(); ++rank) {
    std::map<std::string, Measured> predicted;
    const auto& events = world.events(world.rank(rank).events);
    const std::vector<EventSpan>& spans = step.timeline[step.class_of[rank]];
    for (size_t i = 0; i < events.size(); ++i) {
      const auto* computation = std::get_if<Computation>(&events[i]);
      if (!computation) continue;
      Measured& op = predicted[std::string(computation->op)];
      ++op.count;
      op.seconds += spans[i].end - spans[i].start;
    }
    for (const auto& [name, op] : predicted) {
      const auto measured = ops_.at(rank).find(name);
      const int64_t launches = measured == ops_.at(rank).end() ? 0 : measured->second.count;
      // A view is traced as well, and takes no time in the simulation.
      PHI_CHECK(launches >= op.count * steps_,
                errors::InvalidArgument("'{}' is a trace of another job: rank {} launches {} {} "
                                        "times in {} steps, and the job {} times in one.",
                                        path_, rank, name, launches, steps_, op.count));
      ComparedOp& sum = all.try_emplace(name, ComparedOp{name}).first->second;
      sum.count += op.count;
      sum.predicted += op.seconds;
      sum.measured += measured->second.seconds / static_cast<double>(steps_);
    }
  }
  std::vector<ComparedOp> out;
  for (auto& [name, op] : all) out.push_back(op);
  const auto error = [](const ComparedOp& op) { return std::abs(op.predicted - op.measured); };
  std::ranges::stable_sort(out, std::ranges::greater(), error);
  if (out.size() > most) out.resize(most);
  return out;
}

std::string table(const std::vector<ComparedOp>& ops) {
  size_t width = 8;
  for (const ComparedOp& op : ops) width = std::max(width, op.op.size());
  std::string out = fmt::format("{:<{}}  {:>8}  {:>11}  {:>11}  {:>9}\n", "operator", width,
                                "count", "predicted", "measured", "ratio");
  for (const ComparedOp& op : ops) {
    out += fmt::format("{:<{}}  {:>8}  {:>8.4g} ms  {:>8.4g} ms  {:>9.3g}\n", op.op, width,
                       op.count, 1e3 * op.predicted, 1e3 * op.measured, op.predicted / op.measured);
  }
  return out;
}

}  // namespace phi::simulation
