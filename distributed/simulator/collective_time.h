// How long messages and collectives take on a machine, when nothing else uses its links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "distributed/simulator/machine.h"
#include "distributed/simulator/rank_program.h"

namespace phi::distributed::simulator {

/// Seconds in which a collective of a group ends for all, from the arrival of its last member.
/// `calls` are those of the members, one or more, in the order of `ranks`. Measured points
/// (MachineModel::points_of) come first, then the formula of the machine's Collectives:
///
///   kDirect   until the slowest member's messages have arrived; ceil(log2 n) times as long for
///             CallPattern::kTree
///   kNccl     nccl_seconds of the first member's op and bytes; of an all_to_all, until the
///             slowest member's messages have arrived
///   kNcclExact  an all_gather as kNccl; others as kDirect. Only an all_gather uses points
///
/// A formula takes call_overhead_us first; points contain it.
/// Errors: those of links_of.
double collective_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                          std::span<const GroupCall* const> calls);

/// Seconds in which the messages of an exchange arrive at the member at `position`, from the time
/// at which they are all posted:
///
///   kDirect   one after the other, and each slice of a message takes the latency of its level;
///             received bytes are then combined at reduce_GBps
///   kNccl     those of one level one after the other, levels at the same time; one latency;
///             received bytes are combined at memory_GBps. The same for kNcclExact
///
/// Both take call_overhead_us first.
double message_seconds(const MachineModel& machine, std::span<const int64_t> ranks,
                       const GroupCall& call, size_t position);

/// When a wait ends that begins at `now`, for messages that are under way since `begin`, and take
/// `transfer` seconds if their receiver waits. Until `now` the receiver has computed: they have
/// arrived in part (MachineModel::receiving_rate), and the computation has slowed down
/// (computing_rate), which the wait makes up for.
double end_of_wait(const MachineModel& machine, double now, double begin, double transfer);

}  // namespace phi::distributed::simulator
