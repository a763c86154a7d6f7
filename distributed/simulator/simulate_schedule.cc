// Runs the schedule's programs, and reads the times of their launches.
#include "distributed/simulator/simulate_schedule.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "distributed/pipeline/schedules/program_order.h"
#include "distributed/simulator/schedule_programs.h"
#include "distributed/simulator/simulate.h"

namespace phi::distributed::simulator {
namespace {

std::vector<pipeline::Span> launches_of(const RankProgram& program,
                                        const std::vector<EventSpan>& timeline) {
  std::vector<pipeline::Span> spans;
  for (size_t i = 0; i < timeline.size(); ++i) {
    if (std::holds_alternative<Computation>(program.events[i]))
      spans.push_back({timeline[i].start, timeline[i].end});
  }
  return spans;
}

}  // namespace

pipeline::Simulation simulate_schedule(const pipeline::Schedule& schedule,
                                       const pipeline::ActionTimes& times) {
  pipeline::program_order(schedule, times);  // names the actions of a deadlock
  const std::vector<RankProgram> programs = programs_of(schedule, times);
  const SimulatedStep step = simulate(programs, schedule_machine(times), {.keeps_timeline = true});
  pipeline::Simulation result;
  for (size_t stage = 0; stage < programs.size(); ++stage) {
    const auto& spans = result.spans.emplace_back(
        launches_of(programs[stage], step.timeline[step.class_of[stage]]));
    result.makespan = std::max(result.makespan, spans.back().end);
    result.cost = std::max(result.cost, spans.back().end - spans.front().start);
  }
  result.ideal = static_cast<double>(schedule.micro_batches) * schedule.chunks *
                 (times.forward + times.backward_input + times.backward_weight);
  // sums in another order may differ by a rounding error
  if (result.cost > result.ideal) result.bubble_rate = (result.cost - result.ideal) / result.cost;
  result.peaks = peak_micro_batches(schedule);
  return result;
}

}  // namespace phi::distributed::simulator
