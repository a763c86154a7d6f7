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

/// "No answer within 60 s in all_reduce #418 of group {4,5} ..." and the lines of ranks_report.
std::string late_report(const Call& call, World::Milliseconds deadline, const SeeRank& see);

/// `what` is wrong with a message of this call, and the same lines.
std::string mismatch_report(const Call& call, std::string_view what, const SeeRank& see);

/// A line for each of these ranks, and the last calls of each: `most` of them. With `call` the
/// ranks that have not come to it are marked, and the first call of its group on which ranks differ
/// is named.
std::string ranks_report(std::span<const int64_t> ranks, const Call* call, const SeeRank& see,
                         size_t most);

/// Where the environment's AUTOPHI_REPORT_DIR names a folder, `text` is added to this process's
/// file there. Returns a line that says where, or why not; nothing without the variable.
std::string keep_report(int64_t rank, std::string_view text);

}  // namespace phi::distributed
