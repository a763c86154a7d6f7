// Reports for ranks that wait in vain for each other: the missing ranks, each rank's current or
// last call, and the first call on which they differ. docs/operations.md explains how to read them.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "distributed/comm/collective_call.h"
#include "distributed/comm/report/rank_status.h"

namespace phi::distributed {

// Each report fits a screen. If the environment variable AUTOPHI_REPORT_DIR names a folder, all
// calls that the ranks remember are appended to this process's file there, and the last line names
// the file.

/// The report of a call whose deadline passed: "Timed out after 60 s in all_reduce #418 of group
/// {4,5} ..."; a line for each rank of the group that marks the missing ones; the first call of the
/// group on which ranks differ; and the last calls of each.
std::string late_report(const CollectiveCall& call, std::chrono::milliseconds deadline,
                        const RankStatusQuery& rank_status);

/// The report of a call that a rank of its group will not make, because that rank has left the job:
/// "Rank 1 has left the job without all_reduce #418 of group {4,5} ..."; the same lines. Empty if
/// no rank is known to have left without the call.
std::string left_report(const CollectiveCall& call, const RankStatusQuery& rank_status);

/// The report of a message that does not match its call: `what` is wrong, and the same lines.
std::string mismatch_report(const CollectiveCall& call, std::string_view what,
                            const RankStatusQuery& rank_status);

/// `head`, then a line for each of these ranks and their last calls, as observed by rank `own`.
std::string ranks_report(const std::string& head, std::span<const int64_t> ranks, int64_t own,
                         const RankStatusQuery& rank_status);

}  // namespace phi::distributed
