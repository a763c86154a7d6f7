// The ask form: a question on the command line, a readable answer.
#pragma once

#include <string>
#include <vector>

namespace phi::spmd_tool {

/// What the command line says of one question, not yet parsed.
struct Ask {
  std::string rule;
  std::string mesh;                  // "2x3"
  std::vector<std::string> inputs;   // "64x32[0,_]"; a list: several, separated by blanks
  std::vector<std::string> outputs;  // given: infer the inputs from them
  std::vector<std::string> attrs;    // "trans_x=true"
  bool strict = false;
};

/// The printed answer. Errors: cli::UsageError for what cannot be read; phi::Error for what the
/// rule refuses.
std::string ask(const Ask& ask);

}  // namespace phi::spmd_tool
