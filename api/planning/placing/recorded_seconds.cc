// Adds up launches and calls.
#include "api/planning/placing/recorded_seconds.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "distributed/simulator/collectives/reception.h"

namespace phi::planning {
namespace {

using namespace distributed::simulator;

// All ranks that share a link use it at once.
double seconds_of(const Reception& reception, const MachineModel& machine) {
  double longest = 0, all = 0;
  for (const Reception::Leg& leg : reception.legs) {
    const double GBps = machine.links[leg.level].rank_GBps();
    const double seconds = GBps > 0 ? leg.bytes / (GBps * 1e9) : 0;
    longest = std::max(longest, seconds);
    all += seconds;
  }
  return reception.latency + (reception.at_once ? longest : all) + reception.combining;
}

Reception reception_of(const GroupCall& call, const std::vector<int64_t>& ranks, int64_t rank,
                       const MachineModel& machine) {
  const auto position = static_cast<size_t>(std::ranges::find(ranks, rank) - ranks.begin());
  if (call.pattern == CallPattern::kPointToPoint)
    return reception_of_messages(machine, ranks, call, position);
  return reception_of_collective(machine, links_of(machine, ranks), ranks, call, position);
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
      seconds =
          seconds_of(reception_of(*call, program.groups[call->group], rank, machine), machine);
    }
    picoseconds += std::llround(seconds * 1e12);
  }
  return picoseconds;
}

}  // namespace phi::planning
