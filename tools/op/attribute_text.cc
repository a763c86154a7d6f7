// Parses numbers, texts and lists of them.
#include "tools/op/attribute_text.h"

#include <limits>

#include "phi/common/errors.h"

namespace phi::op_tool {
namespace {

std::string scalar_text(const YAML::Node& node) {
  PHI_CHECK(node.IsScalar(), errors::InvalidArgument("one value is expected, not a list or map."));
  return node.Scalar();
}

double number_of(const YAML::Node& node) {
  const std::string text = scalar_text(node);
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "true" || text == "True") return 1;
  if (text == "false" || text == "False") return 0;
  double value = 0;
  PHI_CHECK(YAML::convert<double>::decode(node, value),
            errors::InvalidArgument("'{}' is no number.", text));
  return value;
}

int64_t integer_of(const YAML::Node& node) {
  int64_t value = 0;
  if (node.IsScalar() && YAML::convert<int64_t>::decode(node, value)) return value;
  return static_cast<int64_t>(number_of(node));
}

bool is_bool(const std::string& text) {
  return text == "true" || text == "false" || text == "True" || text == "False";
}

// The value of a Scalar: true, 3 or 0.5.
AttributeValue any_number(const YAML::Node& node) {
  const std::string text = scalar_text(node);
  if (is_bool(text)) return text == "true" || text == "True";
  int64_t whole = 0;
  if (YAML::convert<int64_t>::decode(node, whole)) return whole;
  return number_of(node);
}

template <typename T, typename Read>
std::vector<T> list_of(const YAML::Node& node, Read read) {
  std::vector<T> values;
  if (node.IsScalar()) return {read(node)};  // a single value counts as a list of one
  for (const auto& item : node) values.push_back(read(item));
  return values;
}

}  // namespace

AttributeValue attribute_of(const YAML::Node& node, AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool:
      return number_of(node) != 0;
    case AttributeKind::kInt:
      return integer_of(node);
    case AttributeKind::kFloat:
      return number_of(node);
    case AttributeKind::kNumber:
      return any_number(node);
    case AttributeKind::kDataType:
      return parse_dtype(scalar_text(node));
    case AttributeKind::kInts:
      return list_of<int64_t>(node, integer_of);
    case AttributeKind::kFloats:
      return list_of<double>(node, number_of);
    case AttributeKind::kStrings:
      return list_of<std::string>(node, scalar_text);
    case AttributeKind::kString:
    case AttributeKind::kPlace:
      break;
  }
  return scalar_text(node);
}

}  // namespace phi::op_tool
