// Infers one call from the command line and prints the result.
#pragma once

#include <string>
#include <vector>

#include "api/rules/op_rule.h"

namespace phi::spmd_tool {

/// The words of the command line, not yet parsed.
struct InferRequest {
  std::string op;
  std::string mesh;                  // "2x3"
  std::vector<std::string> inputs;   // "64x32[0,_]"; for a list, several separated by blanks
  std::vector<std::string> outputs;  // given: infer the inputs from them
  std::vector<std::string> attrs;    // "transpose_x=true"; others have their defaults
  bool strict = false;               // refuse conflicting placements
};

/// The tensors and attributes as arguments of `rule`; unspecified dtypes are UNDEFINED. Trailing
/// optional tensors may be omitted; one without dims is absent.
/// Errors: as infer_text().
OpCallSpec parse_call(const InferRequest& request, const OpRule& rule);

/// The inferred placements as text.
/// Errors: cli::UsageError for text that cannot be parsed; phi::Error of the shape function or the
/// rule.
std::string infer_text(const InferRequest& request);

/// A line for each operator: "matmul (x, y) transpose_x=false transpose_y=false: MatmulInferSpmd".
std::string list();

}  // namespace phi::spmd_tool
