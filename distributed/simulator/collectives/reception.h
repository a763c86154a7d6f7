// How a member of a group receives the messages of a call, and when a wait for them ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "distributed/simulator/collectives/group_links.h"
#include "distributed/simulator/machine.h"
#include "distributed/simulator/rank_program.h"

namespace phi::distributed::simulator {

/// What a member of a group receives in a call, from the time at which all messages are posted.
struct Reception {
  struct Leg {
    size_t level = 0;  // in MachineModel::links
    double bytes = 0;  // that arrive over the receiver's link of this level
  };
  double latency = 0;       // seconds before the first byte
  std::vector<Leg> legs{};  // how long these take depends on what else uses the links
  bool at_once = false;     // legs proceed at the same time; otherwise one after the other
  double combining = 0;     // seconds after the last byte
};

/// The messages of a point-to-point call, which do not depend on the order of peers.
///
/// - kDirect: one level after the other, and each slice of a message takes the latency of its
///   level; received bytes are then combined at reduce_GBps.
/// - kNccl, kNcclExact: levels at the same time; one latency; received bytes are combined at
///   memory_GBps.
///
/// call_overhead_us is part of the latency. Errors: those of MachineModel::link_between.
Reception reception_of_messages(const MachineModel& machine, std::span<const int64_t> ranks,
                                const GroupCall& call, size_t position);

/// A member's part of a collective, which ends for all when the last part does. Measured points
/// (MachineModel::points_of) come first, then the formula of the machine's Collectives:
///
/// - kDirect: reception_of_messages; ceil(log2 n) times for CallPattern::kTree.
/// - kNccl: nccl_transfer of the op and its bytes; of an all_to_all, its messages.
/// - kNcclExact: an all_gather as kNccl; others as kDirect. Of collectives, all_gather alone uses
///   points.
///
/// Points are a latency: they contain call_overhead_us, and use no links. Of one rank: nothing.
Reception reception_of_collective(const MachineModel& machine, const GroupLinks& links,
                                  std::span<const int64_t> ranks, const GroupCall& call,
                                  size_t position);

/// How long the messages take, latency and combining included, if nothing else uses the links and
/// legs proceed one after the other.
double seconds_alone(const MachineModel& machine, const Reception& reception);

/// Messages that are under way from `begin` to `end`, if their receiver waits for them.
struct Arrival {
  double begin = 0;
  double end = 0;
};

/// When a wait ends that begins at `now`. Until `now` the receiver has computed: messages have
/// arrived in part (MachineModel::receiving_rate), and the computation has slowed down
/// (computing_rate), which the wait makes up for.
double end_of_wait(const MachineModel& machine, double now, const Arrival& arrival);

}  // namespace phi::distributed::simulator
