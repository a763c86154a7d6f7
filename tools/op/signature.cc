// Parses signatures: lists separated by commas outside of brackets.
#include "tools/op/signature.h"

#include <algorithm>
#include <string_view>

namespace phi::op_tool {
namespace {

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') + 1 - first));
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  int open = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[' || c == '{') ++open;
    if (c == ')' || c == ']' || c == '}') --open;
    if (c != ',' || (open > 0 && i < text.size())) continue;
    if (std::string part = trimmed(text.substr(start, i - start)); !part.empty()) {
      parts.push_back(std::move(part));
    }
    start = i + 1;
  }
  return parts;
}

}  // namespace

std::vector<SignatureParameter> parse_signature(const std::string& text) {
  std::vector<SignatureParameter> parameters;
  for (const std::string& part : parts_of(text)) {
    const std::string declared = trimmed(part.substr(0, part.find('=')));
    const size_t space = declared.find_last_of(' ');
    if (space == std::string::npos) continue;
    parameters.push_back({trimmed(declared.substr(0, space)), declared.substr(space + 1)});
  }
  return parameters;
}

AttributeKind kind_of_type(const std::string& type) {
  using enum AttributeKind;
  const bool is_list = type.ends_with("[]");
  if (type == "IntArray") return kInts;
  if (is_list &&
      (type.starts_with("float") || type.starts_with("double") || type.starts_with("Scalar"))) {
    return kFloats;
  }
  if (is_list) return type.starts_with("str") ? kStrings : kInts;
  if (type == "bool") return kBool;
  if (type == "float" || type == "double") return kFloat;
  if (type.starts_with("Scalar")) return kNumber;
  if (type == "DataType") return kDataType;
  if (type == "Place") return kPlace;
  return type.starts_with("str") || type == "DataLayout" ? kString : kInt;
}

std::vector<std::string> parse_outputs(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& part : parts_of(text)) {
    const size_t open = part.find('(');
    names.push_back(open == std::string::npos
                        ? "out"
                        : trimmed(part.substr(open + 1, part.find(')', open) - open - 1)));
  }
  return names;
}

}  // namespace phi::op_tool
