// Elimination: the values of many variables with the least sum of costs, exactly, where each cost
// depends on few of them (bucket elimination, Dechter 1999).
//
//   const Elimination solved({.num_choices = {2, 3}, .tables = {table}});
//   if (solved.is_feasible()) solved.choices();
//
// Variables are eliminated one after the other, the one whose neighbours have the fewest
// combinations first: the tables that have it are joined to one, and their minimum over it is a
// table of the neighbours. Time and memory are exponential in the width of the graph of variables,
// which is small for a transformer layer, and linear in their number.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "distributed/planner/elimination/cost_table.h"

namespace phi::distributed::planner {

struct ChoiceProblem {
  std::vector<size_t> num_choices;  // of each variable
  std::vector<CostTable> tables;
};

class Elimination {
 public:
  static constexpr size_t kMostRows = 2'000'000;

  /// Errors: ResourceExhausted if a table would have more than `most_rows`.
  explicit Elimination(const ChoiceProblem& problem, size_t most_rows = kMostRows);

  /// Whether any combination of values is allowed.
  bool is_feasible() const { return is_feasible_; }
  /// The least cost. Requires is_feasible(), as the following do.
  const Cost& cost() const { return cost_; }
  /// A value of each variable, with the least cost. The same for equal problems.
  std::vector<Choice> choices() const;
  /// For each variable and each of its values, the least cost with that value; nullopt: it is not
  /// allowed.
  std::vector<std::vector<std::optional<Cost>>> cost_by_choice() const;

 private:
  // A variable's elimination.
  struct Bucket {
    int variable = 0;
    CostTable joint{{}};             // of the neighbours, then the variable; sorted
    CostTable message{{}};           // its minimum over the variable
    std::vector<size_t> best_rows;   // of the joint, for each row of the message
    std::optional<size_t> receiver;  // the bucket whose joint contains the message
  };
  class Builder;

  // What the rest of the problem costs for each row of a bucket's message.
  CostTable rest_of(const Bucket& bucket, const CostTable& whole_of_receiver) const;

  size_t num_variables_;
  std::vector<size_t> num_choices_;
  size_t most_rows_;
  std::vector<Bucket> buckets_;  // in the order of elimination
  bool is_feasible_ = true;
  Cost cost_;
};

}  // namespace phi::distributed::planner
