// Converts attributes from YAML and JSON.
#pragma once

#include <yaml-cpp/yaml.h>

#include "phi/core/attribute_value.h"

namespace phi::op_tool {

/// A value of this kind; numbers may be Infinity, -Infinity and NaN.
/// Errors: InvalidArgument for a value of another kind.
AttributeValue attribute_of(const YAML::Node& node, AttributeKind kind);

}  // namespace phi::op_tool
