// Needless moves: inputs that a rule asks to lie otherwise though the call on the parts as they are
// makes parts that some placement of its outputs describes. Asked by value, with no ranks.
#pragma once

#include <string>

#include "tests/api/rules_verification/trial.h"
#include "tests/api/rules_verification/verdict.h"

namespace phi::testing {

/// Of one layout of the inputs on meshes of one dim.
struct Moves {
  bool any = false;       // an input is moved; what each rank cuts out of a whole one is no move
  bool needless = false;  // on meshes of two and of three ranks, and with other values
  // Needless, but worth it: outputs would be partial and have more bytes than what moves.
  bool saves = false;
  std::string what;  // needless: "x P(max) to R (out: P(max))"
};

/// What the plain call on parts tells of a layout on a mesh of one dim.
struct Study {
  /// False where nothing has to move and yet the call does not make the parts that the ranks got:
  /// the kernel asks where its part lies, or attributes name whole extents.
  bool is_local = true;
  Moves moves;  // of meshes of two ranks alone
};
/// Of each layout; of those that are not right nothing. Errors: those of the rule.
std::vector<Study> studied(const Trial& trial, const distributed::ProcessMesh& mesh,
                           const std::vector<InputLayout>& layouts,
                           const std::vector<Verdict>& verdicts);

}  // namespace phi::testing
