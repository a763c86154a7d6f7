// Parses the operator signature in a file of recorded calls.
#pragma once

#include <string>
#include <vector>

#include "phi/core/attribute.h"

namespace phi::op_tool {

struct SignatureParameter {
  std::string type;  // "Tensor", "Tensor[]", "bool", "int64_t[]", ...
  std::string name;
  bool is_tensor() const { return type.starts_with("Tensor"); }
};

/// Parses "Tensor x, Scalar axis=-1", without the defaults.
std::vector<SignatureParameter> parse_signature(const std::string& text);

/// The attribute kind of a type.
AttributeKind kind_of_type(const std::string& type);

/// The names in "Tensor(out), Tensor[](outs){n}"; an output without a name is `out`.
std::vector<std::string> parse_outputs(const std::string& text);

}  // namespace phi::op_tool
