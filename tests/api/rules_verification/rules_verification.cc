// rules_verification: tries the placement rules of all operators and writes the page that says what
// came out.
//
//   build/bin/rules_verification                  # a row for each operator on the terminal
//   build/bin/rules_verification --op=matmul      # of one, and which of its moves are needless
//   build/bin/rules_verification --kinds          # that of all
//   build/bin/rules_verification --write          # the totals, to docs/rules_verification.md
//   build/bin/rules_verification --details=FILE   # a page with all rows
#include <fmt/core.h>
#include <gflags/gflags.h>

#include <fstream>

#include "tests/api/rules_verification/verification_report.h"

DEFINE_uint32(seed, 20261123, "seed of the drawn placements, where there are too many");
DEFINE_bool(small, false, "check only the placements that the test checks");
DEFINE_bool(kinds, false, "print needless moves and reasons of refusals for each operator");
DEFINE_bool(write, false, "write the page");
DEFINE_string(page, AUTOPHI_SOURCE_DIR "/docs/rules_verification.md", "the page");
DEFINE_string(details, "", "a file for the results of each operator");
DECLARE_string(op);

namespace phi::testing {
namespace {

void show(const OperatorResult& row) {
  fmt::print(
      "{:32} {:28} {:4} calls {:7} tried {:4} refused {:4} incorrect, needless {} of {} ({} "
      "saving){}\n",
      row.op, row.rule, row.calls, row.tried, row.refused, row.incorrect, row.needless, row.moved,
      row.saving, row.is_local ? "" : ", not local");
  for (const std::string& what : row.wrong) fmt::print("  WRONG {}\n", what);
  std::fflush(stdout);
}

void show_kinds(const OperatorResult& row) {
  for (const auto& [which, count] : row.moves)
    fmt::print("  needless {} times: {}\n", count, which);
  for (const auto& [why, count] : row.refusals) fmt::print("  refused {} times: {}\n", count, why);
}

int run() {
  const auto calls = captured_calls(op_tables());
  const Effort effort = FLAGS_small ? kSmallEffort : kFullEffort;
  const VerificationReport report = verify_rules(calls, effort, FLAGS_seed, FLAGS_op, show);
  if (report.rows.empty()) {
    fmt::print(stderr, "no call of '{}' is captured; add one to its record in tests/ops\n",
               FLAGS_op);
    return 2;
  }
  OperatorResult total;
  for (const OperatorResult& row : report.rows) total.add(row);
  total.op = "all";
  total.rule = "";
  fmt::print("\n");
  for (const OperatorResult& row : report.rows) {
    show(row);
    if (FLAGS_kinds || !FLAGS_op.empty()) show_kinds(row);
  }
  show(total);
  if (FLAGS_write) {
    if (!FLAGS_op.empty() || FLAGS_small) {
      fmt::print(stderr, "--write takes all operators and placements: not --op, not --small\n");
      return 2;
    }
    std::ofstream(FLAGS_page) << summary_markdown(report);
  }
  if (!FLAGS_details.empty()) std::ofstream(FLAGS_details) << details_markdown(report);
  return total.incorrect == 0 ? 0 : 1;
}

}  // namespace
}  // namespace phi::testing

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return phi::testing::run();
}
