// A few placements of every call that the report tries, and that its page speaks of the
// operators that there are.
#include <fmt/format.h>
#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/api/rules_verification/verification_report.h"

DEFINE_uint32(seed, 20261123, "seed of the drawn placements");
DECLARE_string(op);

namespace phi::testing {
namespace {

using ::testing::IsEmpty;

constexpr const char* kToMend = "to mend: build/bin/rules_verification --write";

using Rules = std::map<std::string, std::string>;  // by operator

// What is in one of them only, or has another rule there: whole, both would fill screens.
std::vector<std::string> apart(const Rules& seen, const Rules& wanted) {
  std::vector<std::string> lines;
  for (const auto& [op, rule] : seen)
    if (!wanted.contains(op) || wanted.at(op) != rule)
      lines.push_back("not wanted: " + op + " by '" + rule + "'");
  for (const auto& [op, rule] : wanted)
    if (!seen.contains(op) || seen.at(op) != rule)
      lines.push_back("lacking: " + op + " by '" + rule + "'");
  return lines;
}

TEST(VerificationReport, OfAFewPlacementsOfEveryOperator_NothingIsIncorrect) {
  SCOPED_TRACE("--seed=" + std::to_string(FLAGS_seed));
  const auto calls = captured_calls(op_tables());
  const VerificationReport report = verify_rules(calls, kSmallEffort, FLAGS_seed, FLAGS_op);
  Rules tried;
  for (const OperatorResult& row : report.rows) {
    EXPECT_THAT(row.wrong, IsEmpty()) << row.op;
    EXPECT_EQ(row.incorrect, 0) << row.op;
    EXPECT_GT(row.tried, row.refused) << row.op << " is never computed";
    tried[row.op] = row.rule;
  }
  if (FLAGS_op.empty()) {
    EXPECT_THAT(apart(tried, ops_of_library()), IsEmpty())
        << "add a call to its record in tests/ops";
    EXPECT_THAT(apart(ops_of_page(details_markdown(report)), ops_of_library()), IsEmpty());
  }
}

TEST(VerificationReport, ThePageCountsTheOperatorsOfTheLibrary) {
  std::ifstream file(AUTOPHI_SOURCE_DIR "/docs/rules_verification.md");
  ASSERT_TRUE(file) << kToMend;
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_THAT(page.str(),
              ::testing::AllOf(::testing::HasSubstr(fmt::format(
                                   "| operators and gradients | {} |\n", ops_of_library().size())),
                               ::testing::HasSubstr("| incorrect | 0 |\n")))
      << kToMend;
}

TEST(VerificationReport, APageThatLacksAnOperator_IsNoticed) {
  VerificationReport report;
  for (const auto& [op, rule] : ops_of_library()) {
    if (op == "relu") continue;
    OperatorResult row;
    row.op = op;
    row.rule = rule;
    report.rows.push_back(row);
  }
  auto without = ops_of_library();
  without.erase("relu");
  EXPECT_THAT(apart(ops_of_page(details_markdown(report)), without), IsEmpty());
  EXPECT_THAT(apart(without, ops_of_library()),
              ::testing::ElementsAre(::testing::HasSubstr("lacking: relu by")));
}

}  // namespace
}  // namespace phi::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
