// Elimination against CBC, a solver of integer programs, on problems too large to enumerate.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "distributed/planner/random_problem.h"

namespace phi::distributed::planner {
namespace {

bool has_cbc() { return std::system("command -v cbc > /dev/null 2>&1") == 0; }

// One number, as CBC minimises one.
int64_t scalar(const Cost& cost) {
  return 1000000 * cost.picoseconds + 1000 * cost.bytes + cost.fixed;
}

// A binary variable for each row of each table, and one for each value of each variable: one value
// of each variable, and of each table the row of these values.
std::string linear_program(const ChoiceProblem& problem) {
  std::string objective, rows, binaries;
  for (size_t v = 0; v < problem.num_choices.size(); ++v) {
    for (size_t i = 0; i < problem.num_choices[v]; ++i) {
      rows += fmt::format(" + x{}_{}", v, i);
      binaries += fmt::format(" x{}_{}\n", v, i);
    }
    rows += " = 1\n";
  }
  for (size_t t = 0; t < problem.tables.size(); ++t) {
    const CostTable& table = problem.tables[t];
    for (size_t r = 0; r < table.num_rows(); ++r) {
      objective += fmt::format(" + {} y{}_{}\n", scalar(table.cost(r)), t, r);
      binaries += fmt::format(" y{}_{}\n", t, r);
    }
    for (size_t c = 0; c < table.variables().size(); ++c) {
      const int v = table.variables()[c];
      for (size_t i = 0; i < problem.num_choices[size_t(v)]; ++i) {
        rows += fmt::format(" x{}_{}", v, i);
        for (size_t r = 0; r < table.num_rows(); ++r) {
          if (table.row(r)[c] == i) rows += fmt::format(" - y{}_{}\n", t, r);
        }
        rows += " = 0\n";
      }
    }
  }
  return "Minimize\n" + objective + "Subject To\n" + rows + "Binary\n" + binaries + "End\n";
}

// The least cost; nullopt: infeasible.
std::optional<int64_t> solve_with_cbc(const ChoiceProblem& problem) {
  const std::filesystem::path folder = ::testing::TempDir();
  const std::string lp = folder / "planner_cbc.lp", solution = folder / "planner_cbc.txt";
  std::ofstream(lp) << linear_program(problem);
  const std::string command =
      fmt::format("cbc '{}' ratio 0 solve solution '{}' > /dev/null 2>&1", lp, solution);
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::string line;
  std::ifstream in(solution);
  std::getline(in, line);
  if (line.find("nfeasible") != std::string::npos) return std::nullopt;
  EXPECT_EQ(line.rfind("Optimal", 0), 0u) << line;
  return std::llround(std::stod(line.substr(line.rfind(' '))));
}

TEST(Elimination, AgreesWithCbc) {
  if (!has_cbc()) GTEST_SKIP() << "cbc is not installed; Debian has it in coinor-cbc.";
  int feasible = 0;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const ChoiceProblem problem = random_problem(seed, {.variables = 60,
                                                        .most_choices = 5,
                                                        .tables = 80,
                                                        .reach = 5,
                                                        .density = seed % 4 ? 0.97 : 0.8});
    const Elimination solved(problem);
    const auto expected = solve_with_cbc(problem);
    ASSERT_EQ(solved.is_feasible(), expected.has_value());
    if (!expected) continue;
    ++feasible;
    EXPECT_EQ(scalar(solved.cost()), *expected);
  }
  EXPECT_GE(feasible, 6);
  EXPECT_LT(feasible, 12);
}

}  // namespace
}  // namespace phi::distributed::planner
