// Trials on thread ranks: every rank makes the call on its parts, and what all of them get is put
// together and compared with the plain call.
#pragma once

#include <string>
#include <vector>

#include "tests/api/rules_verification/trial.h"

namespace phi::testing {

struct Verdict {
  enum class Kind : uint8_t { kRight, kRefused, kWrong };
  Kind kind = Kind::kRight;
  std::string why;  // refused: the error; wrong: what differs
  /// By output and rank: what the ranks got.
  std::vector<std::vector<Part>> parts;
};

/// One for each layout. The ranks are those of the mesh, 0 to n - 1.
std::vector<Verdict> verdicts(const Trial& trial, const distributed::ProcessMesh& mesh,
                              const std::vector<InputLayout>& layouts);

}  // namespace phi::testing
