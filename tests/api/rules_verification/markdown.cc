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

constexpr size_t kMaxMoves = 6;

// Of one operator, the most frequent first.
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

std::string to_markdown(const VerificationReport& report) {
  const Effort& effort = report.effort;
  OperatorResult total;
  for (const OperatorResult& row : report.rows) total.add(row);
  std::string page = fmt::format(
      R"(# Verification report of the placement rules

Written by `build/bin/rules_verification --write` (seed {}); do not edit. What it is and how it is tested:
[test_methods.md](test_methods.md#the-verification-report-of-rules).

Every operator and gradient that has a kernel is called through the distributed API on ranks that are threads, with its own kernel and
rule, and what the ranks hold is put together and compared with the plain call. **{} calls were tried, {} refused, {} incorrect.**

- Calls: {}, which the tables of `tests/api/op_cases.h` make, forwards and backwards; of one operator they differ in shapes (uneven and
  empty ones too), dtypes or attributes.
- Meshes: {}.
- Placements of each input: whole, split along any tensor dim, and a partial sum, mean, maximum or minimum (of bool: any, all); several
  mesh dims may split one tensor dim, in either order. The parts of a partial value are noise of which none is the value.
  In calls on rare numbers (NaN, infinities, very large and small ones) nothing is partial.
- All placements of a call's inputs where there are no more than {} (on one mesh dim), {} (two) or {} (three), else as many drawn; {} of
  calls on rare extents and numbers.
- Needless: of the placements on [2] for which the rule asks inputs to move (cutting a part out of a whole tensor is no move), those
  where the plain call on the unmoved parts makes parts that a placement of the outputs describes, there and on [3]. "At least" where the
  kernel asks where its part lies, or attributes name whole extents: the plain call on parts is then another call.
- Saving: of the needless, those that leave less to reduce: outputs would be partial that have more bytes than the inputs that move. No
  operator passes these on (`api/rules/partial_propagation.h`).
- Not here: rules of operators without a kernel, which `spmd_soundness_test` tries with naive ones.

| op | rule | calls | tried | refused | incorrect | needless moves |
|---|---|---|---|---|---|---|
)",
      report.seed, total.tried, total.refused, total.incorrect, total.calls, meshes_text(),
      effort.one_dim, effort.two_dims, effort.three_dims, effort.rare);
  for (const OperatorResult& row : report.rows) write_row(&page, row);
  page +=
      fmt::format("\nIn all {} operators: needless are {} of {} moves; {} of these are saving.\n",
                  report.rows.size(), total.needless, total.moved, total.saving);
  page += "\n## Needless moves\n\nHow often, which, and how the outputs could lie.\n\n";
  for (const OperatorResult& row : report.rows) {
    if (!row.moves.empty()) write_moves(&page, row);
  }
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
