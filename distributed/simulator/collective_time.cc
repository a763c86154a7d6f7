// Chooses between measured points and the formulas of a machine's collectives.
#include "distributed/simulator/collective_time.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>

#include "distributed/simulator/group_links.h"
#include "distributed/simulator/nccl_time.h"

namespace phi::distributed::simulator {
namespace {

// Calls `add` with each peer's traffic and the level that connects it to the member.
template <typename Add>
void for_each_peer(const MachineModel& machine, std::span<const int64_t> ranks,
                   const GroupCall& call, size_t position, const Add& add) {
  for (const PeerTraffic& peer : call.peers) {
    const size_t from = (position + static_cast<size_t>(peer.distance)) % ranks.size();
    add(machine.link_between(ranks[position], ranks[from]), peer);
  }
}

double direct_message_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                              const GroupCall& call, size_t position) {
  double latency = 0;
  double seconds = 0;
  for_each_peer(machine, ranks, call, position,
                [&](const LinkLevel& link, const PeerTraffic& peer) {
                  const auto messages = static_cast<double>(peer.messages_received);
                  latency = std::max(latency, messages * link.latency_us * 1e-6);
                  seconds += static_cast<double>(peer.bytes_received) / (link.rank_GBps() * 1e9);
                });
  if (machine.reduce_GBps > 0)
    seconds += static_cast<double>(call.bytes_combined) / (machine.reduce_GBps * 1e9);
  return latency + seconds;
}

double nccl_message_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                            const GroupCall& call, size_t position) {
  double latency = 0;
  std::map<const LinkLevel*, double> seconds;
  for_each_peer(
      machine, ranks, call, position, [&](const LinkLevel& link, const PeerTraffic& peer) {
        if (peer.messages_received == 0) return;
        latency = std::max(latency, link.latency_us * 1e-6);
        seconds[&link] += static_cast<double>(peer.bytes_received) / (link.rank_GBps() * 1e9);
      });
  double longest = 0;
  for (const auto& [link, each] : seconds) longest = std::max(longest, each);
  const double combined = machine.memory_GBps > 0 ? static_cast<double>(call.bytes_combined) /
                                                        (machine.memory_GBps * 1e9)
                                                  : 0;
  return latency + longest + combined;
}

double own_message_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                           const GroupCall& call, size_t position) {
  return machine.collectives != Collectives::kDirect
             ? nccl_message_seconds(machine, ranks, call, position)
             : direct_message_seconds(machine, ranks, call, position);
}

double slowest_member(const MachineModel& machine, std::span<const int64_t> ranks,
                      std::span<const GroupCall* const> calls) {
  double longest = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    longest = std::max(longest, own_message_seconds(machine, ranks, *calls[i], i));
  }
  return longest;
}

// Whether NCCL has the whole call, and not only its messages.
bool is_by_library(const MachineModel& machine, std::string_view op) {
  switch (machine.collectives) {
    case Collectives::kDirect:
      return false;
    case Collectives::kNccl:
      return op != "all_to_all" && op != "exchange";
    case Collectives::kNcclExact:
      return op == "all_gather";
  }
  return false;
}

double formula_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                       std::span<const GroupCall* const> calls, const GroupLinks& links) {
  const GroupCall& call = *calls.front();
  if (is_by_library(machine, call.op))
    return nccl_seconds(links, call.op, static_cast<double>(call.bytes));
  const double round = slowest_member(machine, ranks, calls);
  return call.pattern == CallPattern::kTree ? round * std::bit_width(ranks.size() - 1) : round;
}

}  // namespace

double collective_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                          std::span<const GroupCall* const> calls) {
  if (ranks.size() < 2) return 0;
  const GroupLinks links = links_of(machine, ranks);
  const GroupCall& call = *calls.front();
  const bool has_measured_form =
      machine.collectives != Collectives::kNcclExact || is_by_library(machine, call.op);
  const CollectivePoints* points =
      machine.points_of(call.op, links.ranks, links.levels.back().link->name);
  if (points && has_measured_form) return points->seconds(static_cast<double>(call.bytes));
  return machine.call_overhead_us * 1e-6 + formula_seconds(machine, ranks, calls, links);
}

double message_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                       const GroupCall& call, size_t position) {
  return machine.call_overhead_us * 1e-6 + own_message_seconds(machine, ranks, call, position);
}

double end_of_wait(const MachineModel& machine, double now, double begin, double transfer) {
  const double receiving = machine.receiving_rate, computing = machine.computing_rate;
  if (now <= begin || receiving == 0) return std::max(now, begin) + transfer;
  // In as many seconds, the message arrives or the computation is over, whichever is first.
  const double beside = std::min(transfer / receiving, (now - begin) / computing);
  return now + beside * (1 - computing) + std::max(0.0, transfer - beside * receiving);
}

}  // namespace phi::distributed::simulator
