// OpSignature: the signature of a function of a library of operators, for callers that have only
// its name. Functions are operators (with a kernel or composed of others), gradients and inplace
// variants ("relu_").
#pragma once

#include <vector>

#include "api/rules/op_rule.h"

namespace phi {

struct OpSignature {
  const char* name;
  std::vector<OpRule::TensorParameter> tensors;
  std::vector<OpRule::Attribute> attributes;
  std::vector<const char*> outputs;  // hidden ones included; any may be a list
};

}  // namespace phi
