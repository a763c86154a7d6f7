// Parses tensors, meshes and attributes from the command line, and formats the result.
#include "tools/spmd/infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "api/rules/op_rule.h"
#include "tools/cli/command_line.h"
#include "tools/cli/parse_layout.h"
#include "tools/spmd/case.h"

namespace phi::spmd_tool {
namespace {

using cli::UsageError;

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

// -1 is an extent that only the kernel determines.
std::string extent_text(int64_t extent) { return extent < 0 ? "?" : std::to_string(extent); }

std::vector<int64_t> parse_extents(std::string_view text, const std::string& where) {
  std::vector<int64_t> extents;
  for (const auto& part : split(text, 'x')) extents.push_back(parse_int(part, where));
  return extents;
}

// "f32", "int64", ...
DataType parse_any_dtype(std::string_view text) {
  for (int i = 1; i < kNumDataTypes; ++i) {
    if (short_name_of(static_cast<DataType>(i)) == text) return static_cast<DataType>(i);
  }
  return parse_dtype(text);
}

// "64x32[0,_]", "64x32[S0,R]", "i64:64[0]", "[]" for a scalar.
OpTensor parse_tensor(const std::string& text, const distributed::ProcessMesh& mesh) {
  const std::string where = "the tensor '" + text + "'";
  const size_t open = text.find('[');
  if (open == std::string::npos || text.back() != ']') {
    throw UsageError(where +
                     " is not of the form 64x32[S0,R] or 64x32[0,_]: extents, then in brackets a "
                     "placement for each mesh dim, or for each extent a mesh dim, 0+1 or _.");
  }
  OpTensor tensor;
  std::string_view extents = std::string_view(text).substr(0, open);
  if (const size_t colon = extents.find(':'); colon != std::string_view::npos) {
    tensor.meta.dtype = parse_any_dtype(extents.substr(0, colon));
    extents.remove_prefix(colon + 1);
  }
  tensor.meta.dims = Dims(parse_extents(extents, where));
  tensor.attr = cli::parse_attr(text.substr(open), tensor.meta.dims.ndim(), mesh, where);
  return tensor;
}

std::vector<OpTensor> parse_argument(const std::string& text,
                                     const distributed::ProcessMesh& mesh) {
  std::vector<OpTensor> tensors;
  for (const auto& part : split(text, ' ')) {
    if (!part.empty()) tensors.push_back(parse_tensor(part, mesh));
  }
  return tensors;
}

double parse_float(const std::string& text, const std::string& where) {
  try {
    size_t end = 0;
    const double value = std::stod(text, &end);
    if (end == text.size()) return value;
  } catch (const std::exception&) {  // reported below
  }
  throw UsageError("'" + text + "' in " + where + " is no number.");
}

AttributeValue parse_attr(const std::string& name, const std::string& text, AttributeKind kind) {
  const std::string where = "attribute " + name;
  const auto list = [&](auto parse) {
    std::vector<decltype(parse(text, where))> values;
    for (const auto& part : split(text, ',')) values.push_back(parse(part, where));
    return values;
  };
  switch (kind) {
    case AttributeKind::kBool:
      if (text == "true" || text == "1") return true;
      if (text == "false" || text == "0") return false;
      throw UsageError(where + " is '" + text + "', expected true or false.");
    case AttributeKind::kInt:
      return parse_int(text, where);
    case AttributeKind::kNumber:
      if (text.find_first_not_of("-0123456789") == std::string::npos) return parse_int(text, where);
      return checked_number(parse_float(text, where), where);
    case AttributeKind::kFloat:
      return parse_float(text, where);
    case AttributeKind::kString:
    case AttributeKind::kPlace:
      return text;
    case AttributeKind::kDataType:
      return parse_any_dtype(text);
    case AttributeKind::kInts:
      return list(parse_int);
    case AttributeKind::kFloats:
      return list(parse_float);
    case AttributeKind::kStrings:
      return split(text, ',');
  }
  return false;
}

std::vector<AttributeValue> parse_attrs(const OpRule& rule, const std::vector<std::string>& given) {
  std::vector<std::pair<std::string, AttributeValue>> values;
  for (const auto& text : given) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      throw UsageError("--attr '" + text + "' is not of the form name=value.");
    }
    const std::string name = text.substr(0, equals);
    values.emplace_back(name, parse_attr(name, text.substr(equals + 1), rule.attribute(name).kind));
  }
  return rule.attributes(values);
}

}  // namespace

OpCallSpec parse_call(const InferRequest& request, const OpRule& rule) {
  if (request.mesh.empty())
    throw UsageError("--mesh is missing; pass --mesh=2x3 or --mesh=dp=2,tp=3.");
  OpCallSpec call_spec{cli::parse_mesh(request.mesh, "", "--mesh"), {}, {}};
  for (const auto& text : request.inputs) {
    const size_t i = call_spec.inputs.size();
    const bool optional =
        i < rule.tensors().size() && rule.tensors()[i].kind == TensorKind::kOptional;
    auto& argument = call_spec.inputs.emplace_back();
    for (const OpTensor& tensor : parse_argument(text, call_spec.mesh)) {
      argument.push_back(optional && tensor.meta.dims.ndim() == 0 ? OpTensor() : tensor);
    }
  }
  while (call_spec.inputs.size() < rule.tensors().size() &&
         rule.tensors()[call_spec.inputs.size()].kind == TensorKind::kOptional) {
    call_spec.inputs.push_back({OpTensor()});
  }
  call_spec.attributes = parse_attrs(rule, request.attrs);
  return call_spec;
}

namespace {

// The format of parse_tensor, without the dtype if it is float32.
std::string tensor_text(const TensorMeta& meta, const distributed::TensorDistAttr* attr) {
  if (attr == nullptr) return "absent";
  const bool said = meta.dtype != DataType::FLOAT32 && meta.dtype != DataType::UNDEFINED;
  std::string shape;
  for (int64_t size : meta.dims) shape += (shape.empty() ? "" : "x") + extent_text(size);
  return (said ? std::string(short_name_of(meta.dtype)) + ":" : "") + shape +
         to_text(attr, meta.dims.ndim());
}

struct PlacementLine {
  std::string name;
  std::string tensor;
  std::string placements;
};

PlacementLine line_of(std::string name, const TensorMeta& meta,
                      const distributed::TensorDistAttr* attr) {
  return {std::move(name), tensor_text(meta, attr), attr == nullptr ? "" : attr->to_string()};
}

// A line for an input; one that the call would reshard also shows its given placements.
PlacementLine line_of_input(const char* name, const OpTensor& given,
                            const distributed::TensorDistAttr* needed) {
  PlacementLine line = line_of(name, given.meta, needed);
  if (needed == given.attr || needed == nullptr || given.attr == nullptr) return line;
  std::vector<std::string> placements;
  for (const auto& p : given.attr->placements()) placements.push_back(p.to_string());
  line.placements += fmt::format("  given as [{}]", fmt::join(placements, ","));
  return line;
}

// Aligns the lines in columns.
std::string lines_text(const std::vector<PlacementLine>& needs,
                       const std::vector<PlacementLine>& gives) {
  size_t name = 0, tensor = 0;
  for (const auto* lines : {&needs, &gives}) {
    for (const PlacementLine& line : *lines) {
      name = std::max(name, line.name.size());
      tensor = std::max(tensor, line.tensor.size());
    }
  }
  std::string text;
  for (const auto* lines : {&needs, &gives}) {
    for (const PlacementLine& line : *lines) {
      std::string row = fmt::format("  {}  {:<{}}  {:<{}}  {}", lines == &needs ? "needs" : "gives",
                                    line.name, name, line.tensor, tensor, line.placements);
      row.erase(row.find_last_not_of(' ') + 1);
      text += row + "\n";
    }
  }
  return text;
}

std::string call_text(const InferRequest& request, const OpRule& rule,
                      const OpCallSpec& call_spec) {
  std::string text = fmt::format("{} --mesh={}", rule.name(), request.mesh);
  for (const auto& argument : call_spec.inputs) {
    std::string tensors;
    for (const OpTensor& tensor : argument) {
      tensors += tensors.empty() ? "" : " ";
      tensors += tensor.attr == nullptr ? "[]" : tensor_text(tensor.meta, tensor.attr);
    }
    text += fmt::format(" --in='{}'", tensors);
  }
  for (const auto& output : request.outputs) text += fmt::format(" --out='{}'", output);
  for (size_t i = 0; i < call_spec.attributes.size(); ++i) {
    text += fmt::format(" --attr {}={}", rule.attributes()[i].name,
                        phi::to_text(call_spec.attributes[i]));
  }
  return text + "\n";
}

std::string inference_text(const OpRule& rule, const OpCallSpec& call_spec,
                           const OpInference& inference) {
  std::vector<PlacementLine> needs, gives;
  for (size_t i = 0; i < call_spec.inputs.size(); ++i) {
    for (const OpTensor& tensor : call_spec.inputs[i]) {
      needs.push_back(
          line_of_input(rule.tensors()[i].name, tensor, inference.inputs[needs.size()]));
    }
  }
  const auto names = rule.outputs();
  for (size_t i = 0; i < inference.outputs.size(); ++i) {
    const auto& [meta, attr] = inference.outputs[i];
    const bool listed = inference.outputs.size() > names.size() && i + 1 >= names.size();
    const std::string name =
        listed ? fmt::format("{} {}", names.back(), i + 1 - names.size()) : std::string(names[i]);
    gives.push_back(line_of(name, meta.value_or(TensorMeta()), attr));
  }
  return lines_text(needs, gives);
}

}  // namespace

std::string infer_text(const InferRequest& request) {
  const OpRule& rule = rules::find(request.op);
  const OpCallSpec call_spec = rule.with_dtypes(parse_call(request, rule));
  std::vector<OpTensor> outputs;
  for (const auto& text : request.outputs) {
    for (OpTensor& tensor : parse_argument(text, call_spec.mesh)) outputs.push_back(tensor);
  }
  distributed::Conflicts conflicts;
  const OpInference inference = outputs.empty()
                                    ? rule.infer(call_spec, &conflicts)
                                    : rule.infer_backward(call_spec, outputs, &conflicts);
  for (const auto& conflict : conflicts) {
    PHI_CHECK(!request.strict || conflict.kind == distributed::Conflict::Kind::kGivenUp,
              errors::InvalidArgument("{}; without --strict a policy decides.", conflict.text));
  }
  std::string text =
      call_text(request, rule, call_spec) + inference_text(rule, call_spec, inference);
  for (const auto& conflict : conflicts) text += fmt::format("  {}\n", conflict.text);
  return text;
}

std::string list() {
  std::string text;
  for (const OpRule& rule : rules::all()) {
    std::vector<std::string> tensors;
    for (const auto& [name, kind] : rule.tensors()) {
      tensors.push_back(kind == TensorKind::kOptional ? std::string(name) + "?"
                        : kind == TensorKind::kList   ? std::string(name) + "[]"
                                                      : name);
    }
    text += fmt::format("{} ({})", rule.name(), fmt::join(tensors, ", "));
    for (const auto& [name, kind, by_default] : rule.attributes()) {
      text +=
          fmt::format(" {}={}", name,
                      by_default ? phi::to_text(*by_default) : fmt::format("<{}>", name_of(kind)));
    }
    text += fmt::format(": {}\n", rule.rule().empty() ? "replicated" : rule.rule());
  }
  return text;
}

}  // namespace phi::spmd_tool
