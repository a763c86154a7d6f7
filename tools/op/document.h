// Generates the page of operators.
#pragma once

#include <string>

#include "api/rules/op_rule.h"

namespace phi::op_tool {

/// "cumsum(x; axis=-1, flatten=false) -> out"
std::string signature_of(const OpRule& rule);

/// For each operator: arguments, dtypes, placement rule, gradient and PyTorch's name; and the
/// operators that are left out, with reasons.
std::string operators_document();

}  // namespace phi::op_tool
