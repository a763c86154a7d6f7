// Parsing of tensors, meshes and attributes as a person types them.
#include "tools/spmd/ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tools/cli/command_line.h"
#include "tools/spmd/case.h"

namespace phi::spmd_tool {
namespace {

using cli::UsageError;
using distributed::AttrKind;
using distributed::AttrValue;
using distributed::RuleFunction;
using distributed::TensorKind;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (size_t start = 0;;) {
    const size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

int64_t parse_int(std::string_view text, const std::string& where) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw UsageError(fmt::format("'{}' in {} is no number.", text, where));
  }
  return value;
}

std::vector<int64_t> parse_extents(std::string_view text, const std::string& where) {
  std::vector<int64_t> extents;
  for (const auto& part : split(text, 'x')) extents.push_back(parse_int(part, where));
  return extents;
}

// "64x32[0,_]", "64[0+1,p2]", "[]" for a scalar.
TensorText parse_tensor(const std::string& text) {
  const std::string where = "the tensor '" + text + "'";
  const size_t open = text.find('[');
  if (open == std::string::npos || text.back() != ']') {
    throw UsageError(where +
                     " is not of the form 64x32[0,_]: extents, then in brackets a mesh "
                     "dim, 0+1 or _ for each.");
  }
  TensorText tensor;
  tensor.shape = parse_extents(std::string_view(text).substr(0, open), where);
  for (const auto& entry : split(text.substr(open + 1, text.size() - open - 2), ',')) {
    if (entry.starts_with('p')) {
      tensor.partial.push_back(static_cast<int>(parse_int(entry.substr(1), where)));
      continue;
    }
    auto& mesh_dims = tensor.dims_mapping.emplace_back();
    if (entry == "_") continue;
    for (const auto& m : split(entry, '+')) {
      mesh_dims.push_back(static_cast<int>(parse_int(m, where)));
    }
  }
  if (tensor.dims_mapping.size() != tensor.shape.size()) {
    throw UsageError(fmt::format("{} has {} extents and {} entries in brackets; give one each.",
                                 where, tensor.shape.size(), tensor.dims_mapping.size()));
  }
  return tensor;
}

ArgumentText parse_argument(const std::string& text) {
  ArgumentText argument;
  for (const auto& part : split(text, ' ')) {
    if (!part.empty()) argument.tensors.push_back(parse_tensor(part));
  }
  argument.is_list = argument.tensors.size() > 1;
  return argument;
}

AttrValue parse_attr(const std::string& name, const std::string& text, AttrKind kind) {
  const std::string where = "attribute " + name;
  switch (kind) {
    case AttrKind::kBool:
      if (text == "true" || text == "1") return true;
      if (text == "false" || text == "0") return false;
      throw UsageError(where + " is '" + text + "', expected true or false.");
    case AttrKind::kInt:
      return parse_int(text, where);
    case AttrKind::kFloat:
      try {
        return std::stod(text);
      } catch (const std::exception&) {
        throw UsageError("'" + text + "' in " + where + " is no number.");
      }
    case AttrKind::kString:
      return text;
    case AttrKind::kInts: {
      std::vector<int64_t> values;
      for (const auto& part : split(text, ',')) values.push_back(parse_int(part, where));
      return values;
    }
    case AttrKind::kDataType:
      return parse_dtype(text);
  }
  return false;
}

std::vector<AttrValue> parse_attrs(const RuleFunction& function,
                                   const std::vector<std::string>& given) {
  const auto names = distributed::split_names(function.attrs);
  std::vector<AttrValue> values;
  for (AttrKind kind : function.attr_kinds) values.push_back(distributed::zero_of(kind));
  for (const auto& text : given) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      throw UsageError("--attr '" + text + "' is not of the form name=value.");
    }
    const std::string name = text.substr(0, equals);
    const auto it = std::find(names.begin(), names.end(), name);
    if (it == names.end()) {
      throw UsageError("the rule has no attribute '" + name + "'" +
                       (names.empty() ? "; it takes none." : cli::did_you_mean(name, names)));
    }
    const size_t i = static_cast<size_t>(it - names.begin());
    if (i < values.size()) {
      values[i] = parse_attr(name, text.substr(equals + 1), function.attr_kinds[i]);
    }
  }
  return values;
}

// Optional tensors at the end may be left out.
void complete(Question& question, const RuleFunction& function) {
  while (question.inputs.size() < function.tensor_kinds.size() &&
         function.tensor_kinds[question.inputs.size()] == TensorKind::kOptional) {
    question.inputs.push_back({{TensorText{}}, false});
  }
}

}  // namespace

std::string ask(const Ask& ask) {
  const auto& rule = distributed::find_rule(ask.rule);
  if (ask.mesh.empty()) throw UsageError("which mesh? Give --mesh=2x3.");
  Question question;
  question.mesh = parse_extents(ask.mesh, "--mesh");
  for (const auto& text : ask.inputs) question.inputs.push_back(parse_argument(text));
  for (const auto& text : ask.outputs) question.outputs.push_back(parse_argument(text));
  question.attrs = parse_attrs(rule.forward, ask.attrs);
  if (!ask.outputs.empty()) question.direction = Direction::kBackward;
  complete(question, rule.forward);

  const auto result =
      answer(rule, question,
             ask.strict ? distributed::Strictness::kRefuse : distributed::Strictness::kResolve);
  const auto names = distributed::split_names(rule.forward.tensors);
  std::string text = to_text(rule, question) + "\n";
  size_t flat = 0;
  for (size_t i = 0; i < question.inputs.size(); ++i) {
    for (const TensorText& tensor : question.inputs[i].tensors) {
      const auto* attr = result.inputs[flat++];
      text += fmt::format("  needs  {:<12} {:<12}", names[i],
                          to_text(attr, static_cast<int>(tensor.shape.size())));
      text += attr == nullptr ? "\n" : "  " + attr->to_string() + "\n";
    }
  }
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const auto* attr = result.outputs[i];
    text += fmt::format("  gives  {:<12} {:<12}", fmt::format("output {}", i), to_text(attr, 0));
    text += attr == nullptr ? "\n" : "  " + attr->to_string() + "\n";
  }
  return text;
}

}  // namespace phi::spmd_tool
