// AttributeValue: an attribute of any operator as data, for those that look at calls from outside:
// captured programs, rules asked by name, printers. Calls themselves pass attributes by their own
// types.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "phi/common/dtype.h"
#include "phi/common/layout.h"
#include "phi/core/attribute.h"

namespace phi {

/// Integers of all widths are int64, both floating types double; a Scalar is what it holds;
/// IntArray and vectors of integers are lists.
using AttributeValue =
    std::variant<bool, int64_t, double, std::string, DataType, std::vector<int64_t>,
                 std::vector<double>, std::vector<std::string>>;

inline AttributeValue attribute_value(bool value) { return value; }
inline AttributeValue attribute_value(std::integral auto value) {
  return static_cast<int64_t>(value);
}
inline AttributeValue attribute_value(std::floating_point auto value) {
  return static_cast<double>(value);
}
inline AttributeValue attribute_value(const std::string& value) { return value; }
inline AttributeValue attribute_value(DataType value) { return value; }
AttributeValue attribute_value(DataLayout value);
AttributeValue attribute_value(const Scalar& value);
AttributeValue attribute_value(const IntArray& value);
AttributeValue attribute_value(const std::vector<int>& values);
AttributeValue attribute_value(const std::vector<int64_t>& values);
AttributeValue attribute_value(const std::vector<float>& values);
AttributeValue attribute_value(const std::vector<double>& values);
AttributeValue attribute_value(const std::vector<bool>& values);
AttributeValue attribute_value(const std::vector<std::string>& values);
AttributeValue attribute_value(const std::vector<Scalar>& values);

/// "true", "3", "0.5", "\"text\"", "float32", "[1,2]"
std::string to_string(const AttributeValue& value);

}  // namespace phi
