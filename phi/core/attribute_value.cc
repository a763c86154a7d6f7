// From the types that attributes have in calls to values, and to text.
#include "phi/core/attribute_value.h"

#include <fmt/format.h>

namespace phi {

AttributeValue attribute_value(const Scalar& value) {
  if (value.dtype() == DataType::BOOL) return value.to<bool>();
  if (is_floating(value.dtype())) return value.to<double>();
  return value.to<int64_t>();
}

AttributeValue attribute_value(DataLayout value) { return std::string(name_of(value)); }

AttributeValue attribute_value(const IntArray& value) {
  return std::vector<int64_t>(value.values().begin(), value.values().end());
}
AttributeValue attribute_value(const std::vector<int>& values) {
  return std::vector<int64_t>(values.begin(), values.end());
}
AttributeValue attribute_value(const std::vector<int64_t>& values) { return values; }
AttributeValue attribute_value(const std::vector<bool>& values) {
  return std::vector<int64_t>(values.begin(), values.end());
}
AttributeValue attribute_value(const std::vector<float>& values) {
  return std::vector<double>(values.begin(), values.end());
}
AttributeValue attribute_value(const std::vector<double>& values) { return values; }
AttributeValue attribute_value(const std::vector<std::string>& values) { return values; }
AttributeValue attribute_value(const std::vector<Scalar>& values) {
  std::vector<double> numbers;
  for (const Scalar& value : values) numbers.push_back(value.to<double>());
  return numbers;
}

namespace {
struct Text {
  std::string operator()(bool x) const { return x ? "true" : "false"; }
  std::string operator()(int64_t x) const { return std::to_string(x); }
  std::string operator()(double x) const { return fmt::format("{}", x); }
  std::string operator()(const std::string& x) const { return "\"" + x + "\""; }
  std::string operator()(DataType x) const { return std::string(name_of(x)); }
  template <typename T>
  std::string operator()(const std::vector<T>& x) const {
    return fmt::format("[{}]", fmt::join(x, ","));
  }
};
}  // namespace

std::string to_string(const AttributeValue& value) { return std::visit(Text(), value); }

}  // namespace phi
