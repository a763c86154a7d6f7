// What is told when ranks wait in vain for each other: who is missing, what each rank does or did
// last, and the first call on which they differ. docs/operations.md says how to read it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "distributed/comm/call_ring.h"
#include "distributed/comm/world.h"

namespace phi::distributed {

/// What one process can see of a rank.
struct SeenRank {
  const CallRing* ring = nullptr;  // null: the rank is on another machine
  std::string process{};           // "pid 4711", "pid 4711 is stopped"; empty: nothing to say
};
using SeeRank = std::function<SeenRank(int64_t rank)>;

// Each is as much as a screen takes. Where the environment's AUTOPHI_REPORT_DIR names a folder, all
// that the ranks remember is added to this process's file there, and the last line says so.

/// "No answer within 60 s in all_reduce #418 of group {4,5} ...", a line for each rank of the group
/// that marks those who are missing, the first call of the group on which ranks differ, and the
/// last calls of each.
std::string late_report(const Call& call, World::Milliseconds deadline, const SeeRank& see);

/// `what` is wrong with a message of this call, and the same lines.
std::string mismatch_report(const Call& call, std::string_view what, const SeeRank& see);

/// `head`, a line for each of these ranks and their last calls; told by rank `own`.
std::string ranks_report(const std::string& head, std::span<const int64_t> ranks, int64_t own,
                         const SeeRank& see);

}  // namespace phi::distributed
