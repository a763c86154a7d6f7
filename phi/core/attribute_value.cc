// Text of attribute kinds and values, and the error for a wrong kind.
#include "phi/core/attribute_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace phi {

std::string_view name_of(AttributeKind kind) {
  constexpr std::string_view kNames[] = {
      "bool",  "int",          "float",          "number",          "string",
      "dtype", "list of ints", "list of floats", "list of strings", "place"};
  return kNames[static_cast<size_t>(kind)];
}

void detail::refuse_attribute(const AttributeValue& value, AttributeKind expected) {
  throw errors::InvalidArgument("an attribute is '{}', expected {} {}.", to_text(value),
                                expected == AttributeKind::kInt ? "an" : "a", name_of(expected));
}

namespace {

struct AttributeText {
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  // Prints the digits of a float if the double was widened from one.
  std::string operator()(double v) const {
    const auto narrow = static_cast<float>(v);
    return narrow == v ? fmt::format("{}", narrow) : fmt::format("{}", v);
  }
  std::string operator()(DataType v) const { return std::string(name_of(v)); }
  std::string operator()(std::monostate) const { return "none"; }
  template <typename T>
  std::string operator()(const T& v) const {
    if constexpr (detail::kIsList<T>) {
      return fmt::format("{}", fmt::join(v, ","));
    } else {
      return fmt::format("{}", v);
    }
  }
};

}  // namespace

std::string to_text(const AttributeValue& value) { return std::visit(AttributeText(), value); }

}  // namespace phi
