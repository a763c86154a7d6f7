// Elimination against all combinations of values, on random problems.
#include "distributed/planner/elimination/elimination.h"

#include <gtest/gtest.h>

#include "distributed/planner/random_problem.h"
#include "support/error_matchers.h"

namespace phi::distributed::planner {
namespace {

struct Enumerated {
  std::optional<Cost> least;
  std::vector<std::vector<std::optional<Cost>>> by_choice;
};

Enumerated enumerate(const ChoiceProblem& problem) {
  Enumerated all;
  for (const size_t count : problem.num_choices) all.by_choice.emplace_back(count);
  std::vector<Choice> values(problem.num_choices.size());
  while (true) {
    if (const auto cost = cost_of(problem, values)) {
      const auto note = [&](std::optional<Cost>& least) {
        if (!least || *cost < *least) least = cost;
      };
      note(all.least);
      for (size_t v = 0; v < values.size(); ++v) note(all.by_choice[v][values[v]]);
    }
    size_t v = values.size();
    while (v > 0 && ++values[v - 1] == problem.num_choices[v - 1]) values[--v] = 0;
    if (v == 0) return all;
  }
}

TEST(Elimination, EqualsAllCombinations) {
  int feasible = 0;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    const ChoiceProblem problem =
        random_problem(seed, {.variables = 2 + seed % 6, .density = seed % 2 ? 0.9 : 0.6});
    const Enumerated all = enumerate(problem);
    const Elimination solved(problem);
    ASSERT_EQ(solved.is_feasible(), all.least.has_value());
    if (!all.least) continue;
    ++feasible;
    EXPECT_EQ(solved.cost(), *all.least);
    EXPECT_EQ(cost_of(problem, solved.choices()), all.least);
    EXPECT_EQ(solved.cost_by_choice(), all.by_choice);
  }
  EXPECT_GT(feasible, 250);
  EXPECT_LT(feasible, 600);
}

// Memory decides only among choices of equal time, and fixed activations among those of equal
// memory.
TEST(Elimination, ComparesTimeThenMemoryThenFixed) {
  const auto best = [](const std::vector<Cost>& costs) {
    CostTable table({0});
    for (size_t i = 0; i < costs.size(); ++i) {
      const Choice choice = static_cast<Choice>(i);
      table.add({&choice, 1}, costs[i]);
    }
    return Elimination({{costs.size()}, {table}}).choices()[0];
  };
  EXPECT_EQ(best({{2, 0, 0}, {1, 9, 9}}), 1);
  EXPECT_EQ(best({{1, 3, 0}, {1, 2, 9}}), 1);
  EXPECT_EQ(best({{1, 2, 3}, {1, 2, 2}}), 1);
  EXPECT_EQ(best({{1, 2, 3}, {1, 2, 3}}), 0);
}

TEST(Elimination, AProblemWithoutVariablesCostsNothing) {
  const Elimination solved({});
  EXPECT_TRUE(solved.is_feasible());
  EXPECT_EQ(solved.cost(), Cost());
  EXPECT_TRUE(solved.choices().empty());
}

TEST(Elimination, ATableThatWouldBeTooLargeIsAnError) {
  CostTable wide({0, 1});
  for (Choice a = 0; a < 10; ++a) {
    for (Choice b = 0; b < 10; ++b) {
      const Choice row[] = {a, b};
      wide.add(row, {});
    }
  }
  const ChoiceProblem problem{{10, 10, 10}, {wide, wide.renamed({1, 2}), wide.renamed({0, 2})}};
  EXPECT_TRUE(Elimination(problem, 1000).is_feasible());
  EXPECT_THAT(
      [&] { Elimination(problem, 999); },
      ThrowsError(ErrorCode::kResourceExhausted,
                  "the placements of 3 tensors that depend on each other have more than 999 "
                  "combinations"));
}

}  // namespace
}  // namespace phi::distributed::planner
