// Conversions, by kind of attribute.
#include "python/src/ops/attribute_values.h"

#include <string>
#include <vector>

namespace phi::python {

AttributeValue attribute_from_python(PyObject* value, const Argument& argument,
                                     AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool:
      return converted<bool>(value, argument);
    case AttributeKind::kInt:
      return converted<int64_t>(value, argument);
    case AttributeKind::kFloat:
      return converted<double>(value, argument);
    case AttributeKind::kNumber:
      return attribute_value(converted<Scalar>(value, argument));
    case AttributeKind::kDataType:
      return converted<DataType>(value, argument);
    case AttributeKind::kInts:
      return converted<std::vector<int64_t>>(value, argument);
    case AttributeKind::kFloats:
      return converted<std::vector<double>>(value, argument);
    case AttributeKind::kStrings:
      return converted<std::vector<std::string>>(value, argument);
    case AttributeKind::kString:
    case AttributeKind::kPlace:
      break;
  }
  return converted<std::string>(value, argument);
}

}  // namespace phi::python
