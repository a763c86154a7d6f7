// The signature that a file of recorded calls gives for its operator.
#pragma once

#include <string>
#include <vector>

#include "phi/core/attribute.h"

namespace phi::op_tool {

struct Parameter {
  std::string type;  // "Tensor", "Tensor[]", "bool", "int64_t[]", ...
  std::string name;
  bool is_tensor() const { return type.starts_with("Tensor"); }
  bool is_list_of_tensors() const { return type.starts_with("Tensor["); }
};

/// Of "Tensor x, Scalar axis=-1": what stands between the commas, without defaults.
std::vector<Parameter> parse_signature(const std::string& text);

/// What an attribute of this type is read as.
AttributeKind kind_of_type(const std::string& type);

/// Names in "Tensor(out), Tensor[](outs){n}"; one without a name is `out`.
std::vector<std::string> parse_outputs(const std::string& text);

}  // namespace phi::op_tool
