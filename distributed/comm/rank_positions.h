// RankPositions: the positions of ranks in a list, such as that of a group.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace phi::distributed {

/// Searches ascending lists, and has a table for others.
class RankPositions {
 public:
  /// `ranks` must outlive this.
  explicit RankPositions(std::span<const int64_t> ranks)
      : ranks_(ranks), is_ascending_(std::ranges::is_sorted(ranks)) {
    if (is_ascending_) return;
    for (size_t i = 0; i < ranks.size(); ++i) table_[ranks[i]] = static_cast<int64_t>(i);
  }

  /// The list must have `rank`.
  int64_t of(int64_t rank) const {
    if (!is_ascending_) return table_.at(rank);
    return std::ranges::lower_bound(ranks_, rank) - ranks_.begin();
  }

 private:
  std::span<const int64_t> ranks_;
  bool is_ascending_;
  std::unordered_map<int64_t, int64_t> table_;
};

}  // namespace phi::distributed
