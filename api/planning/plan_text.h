// Plans as text and as JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "api/planning/plan.h"

namespace phi::planning {

/// "  1  dp 2  tp 4 ..   0.312 s  41 %  12.3 of 80.0 GB (rank 0)", a line for each of the first
/// `top` plans. "same as mesh_order pp_dp_tp" follows if both orders of the mesh are equal.
std::string table(const PlanResult& result, int64_t memory_bytes, size_t top);

/// How many of the first plans are predicted to be slower than the first by no more than `error`,
/// relative to it: 1 if it is ahead of the second.
size_t undecided(const PlanResult& result, double error);

/// Beside the best plan: how much slower what the rules of thumb choose is.
std::string table(const std::vector<RuleOfThumb>& rules, const PlannedLayout& best);

/// "why not tp 16: +1.9 s", with what the difference consists of.
std::string table(const std::vector<Alternative>& alternatives, const PlannedLayout& best);

/// Why no layout fits or is possible, and what would help. Of a result without plans.
std::string fault(const PlanResult& result, int64_t memory_bytes);

/// {"dp": 2, "pp": 1, ..}
nlohmann::ordered_json to_json(const distributed::JobLayout& layout);
/// {"plans": [{"layout": .., "predicted": .., "estimated_seconds": ..}, ..], ..}
nlohmann::ordered_json to_json(const PlanResult& result, const std::vector<RuleOfThumb>& rules);

}  // namespace phi::planning
