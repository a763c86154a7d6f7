// The report as a page.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "tests/api/rules_verification/verification_report.h"

namespace phi::testing {
namespace {

std::string meshes_text() {
  std::string text;
  for (const distributed::ProcessMesh& mesh : verification_meshes()) {
    text += text.empty() ? "[" : ", [";
    for (int m = 0; m < mesh.ndim(); ++m) {
      text += (m == 0 ? "" : ",") + std::to_string(mesh.dim_size(m));
    }
    text += "]";
  }
  return text;
}

std::string needless_text(const OperatorResult& row) {
  if (row.moved == 0) return "-";
  const std::string saving = row.saving == 0 ? "" : fmt::format(", {} saving", row.saving);
  return fmt::format("{}{} of {}{}", row.is_local ? "" : "at least ", row.needless, row.moved,
                     saving);
}

void write_row(std::string* page, const OperatorResult& row) {
  *page += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", row.op,
                       row.rule.empty() ? "none" : "`" + row.rule + "`", row.calls, row.tried,
                       row.refused, row.incorrect, needless_text(row));
}

OperatorResult total_of(const VerificationReport& report) {
  OperatorResult total;
  for (const OperatorResult& row : report.rows) total.add(row);
  return total;
}

constexpr size_t kMaxMoves = 6;

// Writes the needless moves of one operator, the most frequent first.
void write_moves(std::string* page, const OperatorResult& row) {
  std::vector<std::pair<std::string, int64_t>> moves(row.moves.begin(), row.moves.end());
  std::ranges::stable_sort(moves, [](const auto& a, const auto& b) { return a.second > b.second; });
  *page += fmt::format("- `{}`: ", row.op);
  for (size_t i = 0; i < std::min(moves.size(), kMaxMoves); ++i) {
    *page += fmt::format("{}{} {}", i == 0 ? "" : "; ", moves[i].second, moves[i].first);
  }
  if (moves.size() > kMaxMoves) *page += fmt::format("; {} other kinds", moves.size() - kMaxMoves);
  *page += "\n";
}

}  // namespace

std::string summary_markdown(const VerificationReport& report) {
  const Effort& effort = report.effort;
  const OperatorResult total = total_of(report);
  return fmt::format(
      R"(# Verification report of the placement rules

`build/bin/rules_verification --write` writes this page (seed {}). It calls every operator and
gradient that has a kernel through the distributed API, on ranks that are threads, assembles the
shards of the results, and compares them with the plain call.
[test_methods.md](test_methods.md#the-verification-report-of-rules) describes the method.
`--details=FILE` writes the results of each operator.

| what | count |
|---|---|
| operators and gradients | {} |
| calls that differ in shapes, dtypes or attributes | {} |
| placements tried | {} |
| refused | {} |
| incorrect | {} |
| placements for which a rule moves data | {} |
| needless moves | {} |
| needless moves that leave less to reduce | {} |

- The calls are those of the [records](op_records.md), forward and backward, with uneven and empty shapes.
- The meshes are {}.
- Each input is replicated, sharded along any tensor dim, or partial (sum, avg, max, min; any and
  all for bool). Several mesh dims may shard one tensor dim. The terms of a partial value are noise.
- All placements of a call are tried if there are at most {} on one mesh dim, {} on two or {} on
  three, and otherwise that number of random ones. For extreme extents and values the number is {}.
- A move is needless if the plain call on the unmoved shards computes shards of the result, on 2 and
  3 ranks. It leaves less to reduce if the outputs would be partial and larger than the moved inputs.
- Rules of operators without a kernel are not included; `spmd_soundness_test` checks them.
)",
      report.seed, report.rows.size(), total.calls, total.tried, total.refused, total.incorrect,
      total.moved, total.needless, total.saving, meshes_text(), effort.one_dim, effort.two_dims,
      effort.three_dims, effort.rare);
}

std::string details_markdown(const VerificationReport& report) {
  std::string page =
      "# Verification report of the placement rules: operators\n\n"
      "\"At least\" stands where the kernel depends on the offset of its shard, or where an "
      "attribute names global extents.\n\n"
      "| op | rule | calls | tried | refused | incorrect | needless moves |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const OperatorResult& row : report.rows) write_row(&page, row);
  page +=
      "\n## Needless moves\n\nHow often, which, and the placements of the outputs without it.\n\n";
  for (const OperatorResult& row : report.rows) {
    if (!row.moves.empty()) write_moves(&page, row);
  }
  const OperatorResult total = total_of(report);
  if (!total.refusals.empty()) {
    page += "\n## Refusals\n\n";
    for (const auto& [why, count] : total.refusals) page += fmt::format("- {}: {}\n", count, why);
  }
  return page;
}

std::map<std::string, std::string> ops_of_page(const std::string& markdown) {
  std::map<std::string, std::string> ops;
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const size_t op_end = line.find('`', 3);
    const size_t rule = op_end + 4;  // behind "` | "
    const size_t rule_end = line.find(" | ", rule);
    std::string text = line.substr(rule, rule_end - rule);
    std::erase(text, '`');
    ops[line.substr(3, op_end - 3)] = text == "none" ? "" : text;
  }
  return ops;
}

}  // namespace phi::testing
