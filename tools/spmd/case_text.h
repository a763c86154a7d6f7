// Rule cases as lines, with tensors as in the command line of autophi spmd:
//
//   | 2x4 trans_y=true 64x32[0,1] 48x32[1,_] = [0,1] [_,1] -> [0,_,p1]
//
// - `backward` or `grad` in front is the direction.
// - Behind the mesh are attributes, then the inputs; `/` begins the outputs of a backward case.
// - "(4[0] 4[_])" is a list argument.
// - Behind `=` are the placements of the inputs; without them they stay as given.
// - Behind `->` are those of the outputs, or `refused`.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/spmd/case.h"

namespace phi::spmd_tool {

struct CaseLine {
  CaseCall call;  // without attributes
  std::vector<std::pair<std::string, std::string>> attrs;
  std::optional<ExpectedResult> expected;  // nullopt: refused
};

/// Errors: InvalidArgument with the text in question.
CaseLine parse_case_line(const std::string& text);

}  // namespace phi::spmd_tool
