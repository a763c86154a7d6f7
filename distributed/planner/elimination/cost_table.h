// CostTable: the costs of the allowed combinations of a few variables' values. It is sparse: a
// combination without a row is not allowed.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace phi::distributed::planner {

/// What a choice costs. Costs are compared by time, then by memory, then by `fixed`. All are whole
/// numbers, so that sums do not depend on their order.
struct Cost {
  int64_t picoseconds = 0;
  int64_t bytes = 0;  // that stay in memory
  int64_t fixed = 0;  // activations whose placements a layout would fix

  Cost& operator+=(const Cost& more) {
    picoseconds += more.picoseconds;
    bytes += more.bytes;
    fixed += more.fixed;
    return *this;
  }
  friend Cost operator+(Cost a, const Cost& b) { return a += b; }
  friend Cost operator-(const Cost& a, const Cost& b) {
    return {a.picoseconds - b.picoseconds, a.bytes - b.bytes, a.fixed - b.fixed};
  }
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

/// A value of a variable, from 0.
using Choice = uint16_t;

class CostTable {
 public:
  /// `variables` are distinct.
  explicit CostTable(std::vector<int> variables) : variables_(std::move(variables)) {}

  void add(std::span<const Choice> row, const Cost& cost) {
    cells_.insert(cells_.end(), row.begin(), row.end());
    costs_.push_back(cost);
  }

  const std::vector<int>& variables() const { return variables_; }
  size_t num_rows() const { return costs_.size(); }
  std::span<const Choice> row(size_t i) const {
    return {cells_.data() + i * variables_.size(), variables_.size()};
  }
  const Cost& cost(size_t i) const { return costs_[i]; }
  /// The column of a variable; -1: none.
  int column_of(int variable) const;
  /// The same costs of other variables, one for each.
  CostTable renamed(std::vector<int> variables) const {
    CostTable out = *this;
    out.variables_ = std::move(variables);
    return out;
  }

  /// The rows with columns in the order of `variables`, sorted. `variables` has all of the table's.
  CostTable sorted_by(const std::vector<int>& variables) const;
  /// The least cost of each combination of the variables but the last. Requires sorted rows.
  /// `first_rows`, if not null, receives the first row with that cost for each row of the result.
  CostTable without_last(std::vector<size_t>* first_rows) const;

 private:
  std::vector<int> variables_;
  std::vector<Choice> cells_;  // row by row
  std::vector<Cost> costs_;
};

/// The combinations that both tables allow, with the sum of their costs. Columns are those of `a`,
/// followed by those that only `b` has.
/// Errors: ResourceExhausted for more than `most_rows`.
CostTable joined(const CostTable& a, const CostTable& b, size_t most_rows);

}  // namespace phi::distributed::planner
