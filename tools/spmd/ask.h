// The ask form: a question on the command line, a readable answer.
#pragma once

#include <string>
#include <vector>

#include "api/rules/op_rule.h"

namespace phi::spmd_tool {

/// What the command line says of one question, not yet parsed.
struct Ask {
  std::string op;
  std::string mesh;                  // "2x3"
  std::vector<std::string> inputs;   // "64x32[0,_]"; a list: several, separated by blanks
  std::vector<std::string> outputs;  // given: infer the inputs from them
  std::vector<std::string> attrs;    // "transpose_x=true"; the others take their defaults
  bool strict = false;               // refuse where tensors ask for different things
};

/// The tensors and attributes as `rule` takes them; dtypes that are not said are UNDEFINED.
/// Optional tensors at the end may be left out; one of no dims is not given. Errors: those of
/// ask().
OpQuestion parse_question(const Ask& ask, const OpRule& rule);

/// The printed answer. Errors: cli::UsageError for what cannot be read; phi::Error for what the
/// shape function or the rule refuses.
std::string ask(const Ask& ask);

/// "matmul (x, y) transpose_x=false transpose_y=false: MatmulInferSpmd" of each operator, in lines.
std::string list();

}  // namespace phi::spmd_tool
