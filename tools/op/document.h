// The page docs/operators.md.
#pragma once

#include <string>

#include "api/rules/op_rule.h"

namespace phi::op_tool {

/// "cumsum(x; axis=-1, flatten=false) -> out"
std::string signature_of(const OpRule& rule);

/// Every operator: what it takes, for which dtypes, by which rule it is placed, its gradient, what
/// PyTorch calls it; and those that are left out, with the reasons.
std::string operators_document();

}  // namespace phi::op_tool
