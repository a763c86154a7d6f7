// Going through all calls, meshes and layouts.
#include "tests/api/rules_verification/verification_report.h"

#include <algorithm>
#include <thread>

#include "api/rules/rule_functions.h"
#include "phi/kernels/threads.h"
#include "tests/api/rules_verification/needless_moves.h"
#include "tests/api/rules_verification/verdict.h"

namespace phi::testing {

using distributed::ProcessMesh;

const std::vector<ProcessMesh>& verification_meshes() {
  static const std::vector<ProcessMesh> meshes = {
      ProcessMesh({2}),    ProcessMesh({3}),    ProcessMesh({4}),    ProcessMesh({8}),
      ProcessMesh({2, 2}), ProcessMesh({2, 3}), ProcessMesh({2, 4}), ProcessMesh({2, 2, 2}),
  };
  return meshes;
}

void OperatorResult::add(const OperatorResult& other) {
  op = other.op;
  rule = other.rule;
  calls += other.calls;
  tried += other.tried;
  refused += other.refused;
  incorrect += other.incorrect;
  moved += other.moved;
  needless += other.needless;
  saving += other.saving;
  is_local &= other.is_local;
  for (const auto& [why, count] : other.refusals) refusals[why] += count;
  for (const auto& [which, count] : other.moves) moves[which] += count;
  for (const std::string& what : other.wrong) {
    if (wrong.size() < 3) wrong.push_back(what);
  }
}

namespace {

constexpr size_t kMaxWrong = 3;

// FNV-1a, which is the same everywhere.
uint32_t seed_of(const std::string& name, uint32_t seed) {
  uint32_t h = 2166136261u ^ seed;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return h;
}

// An error's first sentence.
std::string reason_of(const std::string& error) {
  const std::string line = error.substr(0, error.find('\n'));
  return line.substr(0, line.find(". "));
}

void count(const Verdict& verdict, OperatorResult* row) {
  ++row->tried;
  switch (verdict.kind) {
    case Verdict::Kind::kRight:
      break;
    case Verdict::Kind::kRefused:
      ++row->refused;
      ++row->refusals[reason_of(verdict.why)];
      break;
    case Verdict::Kind::kWrong:
      ++row->incorrect;
      if (row->wrong.size() < kMaxWrong) row->wrong.push_back(verdict.why);
      break;
  }
}

void count(const Study& study, OperatorResult* row) {
  row->is_local &= study.is_local;
  row->moved += study.moves.any ? 1 : 0;
  row->needless += study.moves.needless ? 1 : 0;
  row->saving += study.moves.saves ? 1 : 0;
  if (study.moves.needless) ++row->moves[study.moves.what];
}

size_t most_of(const Effort& effort, int mesh_ndim, bool is_rare) {
  const size_t most = mesh_ndim == 1   ? effort.one_dim
                      : mesh_ndim == 2 ? effort.two_dims
                                       : effort.three_dims;
  return is_rare ? std::min(most, effort.rare) : most;
}

}  // namespace

OperatorResult examined(const Trial& trial, const Effort& effort, uint32_t seed, bool is_rare,
                        bool is_studied) {
  std::mt19937 rng(seed_of(trial.name, seed));
  OperatorResult row;
  row.calls = 1;
  for (const ProcessMesh& mesh : verification_meshes()) {
    const auto tried = layouts(trial, mesh, most_of(effort, mesh.ndim(), is_rare), rng);
    const auto found = verdicts(trial, mesh, tried);
    for (const Verdict& verdict : found) count(verdict, &row);
    if (is_rare || !is_studied || mesh.size() > 3) continue;
    for (const Study& study : studied(trial, mesh, tried, found)) count(study, &row);
  }
  return row;
}

VerificationReport verify_rules(const std::vector<CapturedCall>& calls, const Effort& effort,
                                uint32_t seed, const std::string& op,
                                const std::function<void(const OperatorResult&)>& done) {
  // One thread a rank. In the forked children of child_process.h a pool of threads would be waited
  // for that only the parent has.
  share_cores(static_cast<int>(std::thread::hardware_concurrency()));
  std::map<std::string, OperatorResult> rows;
  for (const CapturedCall& call : calls) {
    if (!op.empty() && op != call.op->name) continue;
    const bool is_studied = effort.studies_all || !rows.contains(call.op->name);
    OperatorResult row = examined(trial_of(call), effort, seed, call.is_rare, is_studied);
    row.op = call.op->name;
    row.rule = call.op->rule.name;
    if (done) done(row);
    rows[row.op].add(row);
  }
  VerificationReport report{seed, effort, {}};
  for (auto& [name, row] : rows) report.rows.push_back(std::move(row));
  return report;
}

namespace {

// What plain tensors become when ranks of a ring talk: no rule is asked. An operator whose shape
// function is asked about the ring refuses all but the first, and talks to nobody.
bool talks_over_a_ring(const OpDef& op) {
  return std::string_view(op.rule.name).empty() &&
         std::ranges::any_of(op.attributes, [](const AttributeDef& attribute) {
           return std::string_view(attribute.name) == "ring_id" && !attribute.decides;
         });
}

}  // namespace

std::map<std::string, std::string> ops_of_library() {
  std::map<std::string, std::string> ops;
  for (const OpDef* op : ops::all()) {
    if (op->kernel.is_registered() && !talks_over_a_ring(*op)) ops[op->name] = op->rule.name;
  }
  return ops;
}

}  // namespace phi::testing
