// Chooses between measured points and the formulas of a machine's collectives.
#include "distributed/simulator/collectives/collective_time.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

#include "distributed/simulator/collectives/nccl_time.h"

namespace phi::distributed::simulator {
namespace {

// The messages that a member of a group receives in one call.
struct Received {
  double latency = 0;          // of the level that is slowest to send its messages
  std::vector<int64_t> bytes;  // by level
};

// `per_slice`: each slice of a message takes the latency, instead of the first.
Received received(const MachineModel& machine, std::span<const int64_t> ranks,
                  const GroupCall& call, size_t position, bool per_slice) {
  Received out{0, std::vector<int64_t>(machine.links.size())};
  for (const PeerTraffic& peer : call.peers) {
    const size_t from = (position + static_cast<size_t>(peer.distance)) % ranks.size();
    const LinkLevel& link = machine.link_between(ranks[position], ranks[from]);
    const int64_t latencies =
        per_slice ? peer.messages_received : std::min<int64_t>(peer.messages_received, 1);
    out.latency = std::max(out.latency, static_cast<double>(latencies) * link.latency_us * 1e-6);
    out.bytes[static_cast<size_t>(&link - machine.links.data())] += peer.bytes_received;
  }
  return out;
}

double seconds_at(int64_t bytes, double GBps) {
  return GBps > 0 ? static_cast<double>(bytes) / (GBps * 1e9) : 0;
}

double direct_receive_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                              const GroupCall& call, size_t position) {
  const Received own = received(machine, ranks, call, position, /*per_slice=*/true);
  double seconds = own.latency;
  for (size_t level = 0; level < own.bytes.size(); ++level)
    seconds += seconds_at(own.bytes[level], machine.links[level].rank_GBps());
  return seconds + seconds_at(call.bytes_combined, machine.reduce_GBps);
}

double nccl_receive_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                            const GroupCall& call, size_t position) {
  const Received own = received(machine, ranks, call, position, /*per_slice=*/false);
  double longest = 0;
  for (size_t level = 0; level < own.bytes.size(); ++level)
    longest = std::max(longest, seconds_at(own.bytes[level], machine.links[level].rank_GBps()));
  return own.latency + longest + seconds_at(call.bytes_combined, machine.memory_GBps);
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

const CollectivePoints* points_of(const MachineModel& machine, const GroupLinks& links,
                                  const GroupCall& call) {
  const bool has_measured_form =
      machine.collectives != Collectives::kNcclExact || is_by_library(machine, call.op);
  if (!has_measured_form) return nullptr;
  return machine.points_of(call.op, links.ranks, links.levels.back().link->name);
}

}  // namespace

double receive_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                       const GroupCall& call, size_t position) {
  return machine.collectives == Collectives::kDirect
             ? direct_receive_seconds(machine, ranks, call, position)
             : nccl_receive_seconds(machine, ranks, call, position);
}

double message_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                       const GroupCall& call, size_t position) {
  return machine.call_overhead_us * 1e-6 + receive_seconds(machine, ranks, call, position);
}

bool depends_on_messages(const MachineModel& machine, const GroupLinks& links,
                         const GroupCall& call) {
  if (links.ranks < 2) return false;
  return !points_of(machine, links, call) && !is_by_library(machine, call.op);
}

double collective_seconds(const MachineModel& machine, const GroupLinks& links,
                          const GroupCall& call, double slowest) {
  if (links.ranks < 2) return 0;
  const auto bytes = static_cast<double>(call.bytes);
  if (const CollectivePoints* points = points_of(machine, links, call))
    return points->seconds(bytes);
  const double overhead = machine.call_overhead_us * 1e-6;
  if (is_by_library(machine, call.op)) return overhead + nccl_seconds(links, call.op, bytes);
  const auto members = static_cast<uint64_t>(links.ranks);
  return overhead +
         (call.pattern == CallPattern::kTree ? slowest * std::bit_width(members - 1) : slowest);
}

double end_of_wait(const MachineModel& machine, double now, double begin, double transfer) {
  const double receiving = machine.receiving_rate, computing = machine.computing_rate;
  if (now <= begin || receiving == 0) return std::max(now, begin) + transfer;
  // In as many seconds, the message arrives or the computation is over, whichever is first.
  const double beside = std::min(transfer / receiving, (now - begin) / computing);
  return now + beside * (1 - computing) + std::max(0.0, transfer - beside * receiving);
}

}  // namespace phi::distributed::simulator
