// How long messages and collectives take on a machine, when nothing else uses its links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "distributed/simulator/collectives/group_links.h"
#include "distributed/simulator/machine.h"
#include "distributed/simulator/rank_program.h"

namespace phi::distributed::simulator {

/// Seconds in which the messages of a call arrive at the member at `position`, from the time at
/// which they are all posted. Does not depend on the order of peers.
///
/// - kDirect: one after the other, and each slice of a message takes the latency of its level;
///   received bytes are then combined at reduce_GBps.
/// - kNccl, kNcclExact: those of one level one after the other, levels at the same time; one
///   latency; received bytes are combined at memory_GBps.
///
/// Does not contain call_overhead_us. Errors: those of MachineModel::link_between.
double receive_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                       const GroupCall& call, size_t position);

/// receive_seconds of a point-to-point call, with call_overhead_us.
double message_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                       const GroupCall& call, size_t position);

/// Whether the time of a collective depends on receive_seconds of its members. If not, it follows
/// from the group's links and the array's bytes.
bool depends_on_messages(const MachineModel& machine, const GroupLinks& links,
                         const GroupCall& call);

/// Seconds in which a collective of a group ends for all, from the arrival of its last member.
/// `call` is that of a member; `slowest` the longest receive_seconds of all members, which is used
/// if the time depends on messages. Measured points (MachineModel::points_of) come first, then the
/// formula of the machine's Collectives:
///
/// - kDirect: until the slowest member's messages have arrived; ceil(log2 n) times as long for
///   CallPattern::kTree.
/// - kNccl: nccl_seconds of the op and its bytes; of an all_to_all, until the slowest member's
///   messages have arrived.
/// - kNcclExact: an all_gather as kNccl; others as kDirect. Of collectives, all_gather alone uses
///   points.
///
/// A formula takes call_overhead_us first; points contain it.
double collective_seconds(const MachineModel& machine, const GroupLinks& links,
                          const GroupCall& call, double slowest);

/// When a wait ends that begins at `now`, for messages that are under way since `begin`, and take
/// `transfer` seconds if their receiver waits. Until `now` the receiver has computed: they have
/// arrived in part (MachineModel::receiving_rate), and the computation has slowed down
/// (computing_rate), which the wait makes up for.
double end_of_wait(const MachineModel& machine, double now, double begin, double transfer);

}  // namespace phi::distributed::simulator
