// Needless moves: inputs that a rule asks to lie otherwise though the call on the parts as they are
// makes parts that some placement of its outputs describes. Asked by value, with no ranks.
#pragma once

#include <string>

#include "tests/api/certificate/trial.h"
#include "tests/api/certificate/verdict.h"

namespace phi::testing {

/// Of one layout of the inputs on meshes of one dim.
struct Moves {
  bool any = false;       // an input is moved; what each rank cuts out of a whole one is no move
  bool needless = false;  // on meshes of two and of three ranks
  std::string what;       // needless: "x P(max) to R; out could be P(max)"
};
/// `layout` is on a mesh of two ranks. Errors: those of the rule.
Moves moves_of(const Trial& trial, const Layout& layout);

/// False where nothing had to move and yet the plain call on the parts does not make the parts that
/// the ranks got: the kernel asks where its part lies, or attributes name whole extents.
bool is_local(const Trial& trial, const distributed::ProcessMesh& mesh, const Layout& layout,
              const Verdict& verdict);

}  // namespace phi::testing
