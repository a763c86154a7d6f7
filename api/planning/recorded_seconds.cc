// Adds up launches and calls.
#include "api/planning/recorded_seconds.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "distributed/simulator/collectives/collective_time.h"

namespace phi::planning {
namespace {

using namespace distributed::simulator;

double seconds_of(const GroupCall& call, const std::vector<int64_t>& ranks, int64_t rank,
                  const MachineModel& machine) {
  const auto position = static_cast<size_t>(std::ranges::find(ranks, rank) - ranks.begin());
  if (call.pattern == CallPattern::kPointToPoint)
    return message_seconds(machine, ranks, call, position);
  const GroupLinks links = links_of(machine, ranks);
  const double slowest = depends_on_messages(machine, links, call)
                             ? receive_seconds(machine, ranks, call, position)
                             : 0;
  return collective_seconds(machine, links, call, slowest);
}

}  // namespace

int64_t picoseconds_of(const RankProgram& program, int64_t rank, int64_t num_ranks,
                       const MachineModel& machine) {
  int64_t picoseconds = 0;
  for (const RankEvent& event : program.events) {
    double seconds = 0;
    if (const auto* computation = std::get_if<Computation>(&event)) {
      // A launch that is shorter than its issue waits for the host.
      seconds = std::max(machine.time_of(*computation).seconds * machine.slowdown(num_ranks),
                         machine.issue_us * 1e-6);
    } else if (const auto* call = std::get_if<GroupCall>(&event)) {
      seconds = seconds_of(*call, program.groups[call->group], rank, machine);
    }
    picoseconds += std::llround(seconds * 1e12);
  }
  return picoseconds;
}

}  // namespace phi::planning
