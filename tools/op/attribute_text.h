// Attributes as YAML and JSON write them.
#pragma once

#include <yaml-cpp/yaml.h>

#include "phi/core/attribute_value.h"

namespace phi::op_tool {

/// A value of this kind; numbers may be Infinity, -Infinity and NaN. Errors: InvalidArgument for
/// what is none.
AttributeValue attribute_of(const YAML::Node& node, AttributeKind kind);

}  // namespace phi::op_tool
