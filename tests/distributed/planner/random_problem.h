// Random problems of choices, for tests of elimination.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "distributed/planner/elimination/elimination.h"

namespace phi::distributed::planner {

struct RandomProblemSize {
  size_t variables = 6;
  size_t most_choices = 4;
  size_t tables = 8;
  size_t most_columns = 3;
  size_t reach = 100;  // largest distance of two variables of a table, which bounds the width
  double density = 0.8;
};

inline ChoiceProblem random_problem(uint32_t seed, const RandomProblemSize& size) {
  std::mt19937 rng(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(rng() % n); };
  ChoiceProblem problem;
  for (size_t v = 0; v < size.variables; ++v)
    problem.num_choices.push_back(1 + below(size.most_choices));
  for (size_t t = 0; t < size.tables; ++t) {
    const size_t first = below(size.variables);
    std::vector<int> near;
    for (size_t v = first; v < std::min(size.variables, first + size.reach + 1); ++v)
      near.push_back(static_cast<int>(v));
    std::shuffle(near.begin(), near.end(), rng);
    near.resize(std::min(near.size(), 1 + below(size.most_columns)));
    CostTable table(near);
    std::vector<Choice> row(near.size());
    while (true) {
      if (static_cast<double>(below(1000)) < 1000 * size.density)
        table.add(row, {static_cast<int64_t>(below(20)), static_cast<int64_t>(below(3)),
                        static_cast<int64_t>(below(2))});
      size_t c = near.size();
      while (c > 0 && ++row[c - 1] == problem.num_choices[static_cast<size_t>(near[c - 1])])
        row[--c] = 0;
      if (c == 0) break;
    }
    problem.tables.push_back(std::move(table));
  }
  return problem;
}

/// The cost of these values of all variables; nullopt: a table does not allow them.
inline std::optional<Cost> cost_of(const ChoiceProblem& problem,
                                   const std::vector<Choice>& values) {
  Cost total;
  for (const CostTable& table : problem.tables) {
    bool found = false;
    for (size_t i = 0; i < table.num_rows() && !found; ++i) {
      found = true;
      for (size_t c = 0; c < table.variables().size(); ++c)
        found &= values[static_cast<size_t>(table.variables()[c])] == table.row(i)[c];
      if (found) total += table.cost(i);
    }
    if (!found) return std::nullopt;
  }
  return total;
}

}  // namespace phi::distributed::planner
