// The report of the placement rules: every operator with a kernel, each captured call of it on
// many placements, what came out, and the page that says so (docs/rules_verification.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/api/rules_verification/trial.h"

namespace phi::testing {

/// The most layouts of a call's inputs that are tried on one mesh; where there are no more, all.
struct Effort {
  size_t one_dim;
  size_t two_dims;
  size_t three_dims;
  size_t rare;       // of calls of rare extents and numbers, on any mesh
  bool studies_all;  // whether moves of each call are looked at, or of an op's first
};
inline constexpr Effort kFullEffort{
    .one_dim = 400, .two_dims = 200, .three_dims = 100, .rare = 30, .studies_all = true};
inline constexpr Effort kSmallEffort{
    .one_dim = 9, .two_dims = 6, .three_dims = 5, .rare = 1, .studies_all = false};

/// 2, 3, 4 and 8 ranks; 2x2, 2x3, 2x4; 2x2x2.
const std::vector<distributed::ProcessMesh>& verification_meshes();

/// What was found of one operator.
struct OperatorResult {
  std::string op;
  std::string rule;     // empty: it has none, inputs are whole
  int64_t calls = 0;    // that differ in shapes, dtypes or attributes
  int64_t tried = 0;    // layouts of their inputs, on all meshes
  int64_t refused = 0;  // by an error on every rank
  int64_t incorrect = 0;
  int64_t moved = 0;     // layouts on one mesh dim for which the rule asks inputs to move
  int64_t needless = 0;  // of these, where the call on the parts as they are would have done
  int64_t saving = 0;    // of these, where that leaves more bytes to reduce than what moves has
  bool is_local = true;  // the kernel does the same on parts as on whole tensors
  std::map<std::string, int64_t> refusals;  // why, and how often
  std::map<std::string, int64_t> moves;     // needless ones: which, and how often
  std::vector<std::string> wrong;           // the first incorrect ones

  void add(const OperatorResult& other);
};

/// One call on all meshes. The draw depends on the seed and the trial's name alone. Moves of inputs
/// are looked at, in child processes, only where it `is_studied`.
OperatorResult examined(const Trial& trial, const Effort& effort, uint32_t seed,
                        bool is_rare = false, bool is_studied = true);

struct VerificationReport {
  uint32_t seed = 0;
  Effort effort{};
  std::vector<OperatorResult> rows;  // sorted by op
};
/// `op`: only that one; empty: all. `done` is called with each row of one call.
VerificationReport verify_rules(const std::vector<CapturedCall>& calls, const Effort& effort,
                                uint32_t seed, const std::string& op = "",
                                const std::function<void(const OperatorResult&)>& done = {});

/// The page docs/rules_verification.md: totals, and what was tried.
std::string summary_markdown(const VerificationReport& report);
/// A page with a row for each operator, and its needless moves.
std::string details_markdown(const VerificationReport& report);
/// The ops of a page of details, each with its rule.
std::map<std::string, std::string> ops_of_page(const std::string& markdown);
/// Every operator of the library, with its rule.
std::map<std::string, std::string> ops_of_library();

}  // namespace phi::testing
