// Chooses between measured points, the library's formulas and single messages.
#include "distributed/simulator/collectives/reception.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "distributed/simulator/collectives/nccl_transfer.h"

namespace phi::distributed::simulator {
namespace {

size_t level_of(const MachineModel& machine, const LinkLevel& link) {
  return static_cast<size_t>(&link - machine.links.data());
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

double seconds_to_combine(const MachineModel& machine, const GroupCall& call) {
  const bool is_direct = machine.collectives == Collectives::kDirect;
  const double GBps = is_direct ? machine.reduce_GBps : machine.memory_GBps;
  return GBps > 0 ? static_cast<double>(call.bytes_combined) / (GBps * 1e9) : 0;
}

// Without call_overhead_us.
Reception messages(const MachineModel& machine, std::span<const int64_t> ranks,
                   const GroupCall& call, size_t position) {
  const bool is_direct = machine.collectives == Collectives::kDirect;
  Reception out{.at_once = !is_direct, .combining = seconds_to_combine(machine, call)};
  std::vector<int64_t> bytes(machine.links.size());
  for_each_peer(call, position, [&](const PeerTraffic& peer) {
    const size_t from = (position + static_cast<size_t>(peer.distance)) % ranks.size();
    const LinkLevel& link = machine.link_between(ranks[position], ranks[from]);
    const int64_t latencies =
        is_direct ? peer.messages_received : std::min<int64_t>(peer.messages_received, 1);
    out.latency = std::max(out.latency, static_cast<double>(latencies) * link.latency_us * 1e-6);
    bytes[level_of(machine, link)] += peer.bytes_received;
  });
  for (size_t level = 0; level < bytes.size(); ++level) {
    if (bytes[level] > 0) out.legs.push_back({level, static_cast<double>(bytes[level])});
  }
  return out;
}

Reception by_library(const MachineModel& machine, const GroupLinks& links, const GroupCall& call) {
  const NcclTransfer transfer = nccl_transfer(links, call.op, static_cast<double>(call.bytes));
  Reception out{.latency = transfer.latency, .at_once = true};
  for (const GroupLinks::Level& level : links.levels) {
    out.legs.push_back(
        {level_of(machine, *level.link), transfer.bytes / static_cast<double>(level.members)});
  }
  return out;
}

void repeat(double times, Reception* reception) {
  reception->latency *= times;
  for (Reception::Leg& leg : reception->legs) leg.bytes *= times;
  reception->combining *= times;
}

}  // namespace

Reception reception_of_messages(const MachineModel& machine, std::span<const int64_t> ranks,
                                const GroupCall& call, size_t position) {
  Reception out = messages(machine, ranks, call, position);
  out.latency += machine.call_overhead_us * 1e-6;
  return out;
}

Reception reception_of_collective(const MachineModel& machine, const GroupLinks& links,
                                  std::span<const int64_t> ranks, const GroupCall& call,
                                  size_t position) {
  if (links.ranks < 2) return {};
  if (const CollectivePoints* points = points_of(machine, links, call))
    return {.latency = points->seconds(static_cast<double>(call.bytes))};
  const bool is_library = is_by_library(machine, call.op);
  Reception out =
      is_library ? by_library(machine, links, call) : messages(machine, ranks, call, position);
  if (!is_library && call.pattern == CallPattern::kTree)
    repeat(std::bit_width(static_cast<uint64_t>(links.ranks) - 1), &out);
  out.latency += machine.call_overhead_us * 1e-6;
  return out;
}

double seconds_alone(const MachineModel& machine, const Reception& reception) {
  double seconds = reception.latency + reception.combining;
  for (const Reception::Leg& leg : reception.legs)
    seconds += leg.bytes / (machine.links[leg.level].GBps * 1e9);
  return seconds;
}

double end_of_wait(const MachineModel& machine, double now, const Arrival& arrival) {
  const auto [begin, end] = arrival;
  if (now <= begin) return end;
  const double receiving = machine.receiving_rate, computing = machine.computing_rate;
  const double transfer = end - begin;
  if (receiving == 0) return now + transfer;
  // In as many seconds, the message arrives or the computation is over, whichever is first.
  const double beside = std::min(transfer / receiving, (now - begin) / computing);
  const double missing = std::max(0.0, transfer - beside * receiving);
  return std::max(end, now + beside * (1 - computing) + missing);
}

}  // namespace phi::distributed::simulator
