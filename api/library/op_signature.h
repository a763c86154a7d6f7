// OpSignature: what a function of a library of operators takes and gives, for callers that know its
// name alone: of operators, those that call others, gradients and inplace variants ("relu_").
#pragma once

#include <vector>

#include "api/rules/op_rule.h"

namespace phi {

struct OpSignature {
  const char* name;
  std::vector<OpRule::Tensor> tensors;
  std::vector<OpRule::Attribute> attributes;
  std::vector<const char*> outputs;  // hidden ones too; any may stand for a list
};

}  // namespace phi
