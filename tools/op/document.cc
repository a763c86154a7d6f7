// The page of operators: a table with arguments, dtypes, rules and gradients.
#include "tools/op/document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "api/call/named_call.h"
#include "api/rules/op_rule.h"
#include "phi/core/op_def.h"
#include "tools/op/missing_operators.h"
#include "tools/op/torch_names.h"

namespace phi::op_tool {
namespace {

constexpr std::string_view kHead =
    "# Operators\n"
    "\n"
    "Written by `autophi op --document`. Names are Paddle's. `x?` is optional, `x[]` is a list, "
    "attributes\n"
    "follow the semicolon with their defaults; an operator whose name ends with `_` writes its "
    "arguments.\n"
    "The dtypes are those of its CPU kernels. A rule without name is declared in the YAML "
    "(`yaml/ops`), `-` replicates\n"
    "all tensors; what each rule does: [spmd_rules.md](spmd_rules.md). Full entries:\n"
    "`build/api/generated/op_reference.md`.\n"
    "\n";

std::string dtypes_of(const Kernel& kernel, DeviceKind kind = DeviceKind::CPU) {
  std::vector<std::string_view> names;
  for (int i = 1; i < kNumDataTypes; ++i) {
    const auto dtype = static_cast<DataType>(i);
    if (kernel.find(kind, dtype)) names.push_back(short_name_of(dtype));
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::string gradient_of(std::string_view op) {
  const std::string name =
      fmt::format("{}_grad", op.ends_with('_') ? op.substr(0, op.size() - 1) : op);
  return has_call(name) ? name : "";
}

bool is_gradient(std::string_view name) {
  return name.ends_with("_grad") || name.ends_with("_grad_");
}

std::string in_cell(std::string text) {
  for (size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, 1, '\\');
  }
  return text;
}

std::string row_of(const OpDef& op) {
  const OpRule& rule = rules::find(op.name);
  return fmt::format("| `{}` | {} | {} | {} | {} |\n", in_cell(signature_of(rule)),
                     dtypes_of(op.kernel),
                     rule.rule().empty() ? "-" : in_cell(std::string(rule.rule())),
                     gradient_of(op.name), torch_name_of(op.name));
}

// Includes gradients, which training needs. Empty in a build without CUDA.
std::string section_of_gpus(const std::vector<const OpDef*>& ops) {
  std::vector<std::string> there, missing;
  for (const OpDef* op : ops) {
    if (!op->kernel.is_registered()) continue;
    const std::string dtypes = dtypes_of(op->kernel, DeviceKind::GPU);
    if (dtypes.empty()) {
      missing.push_back(fmt::format("`{}`", op->name));
    } else if (dtypes == dtypes_of(op->kernel)) {
      there.push_back(fmt::format("`{}`", op->name));
    } else {
      there.push_back(fmt::format("`{}` ({})", op->name, dtypes));
    }
  }
  if (there.empty()) return "";
  return fmt::format(
      "\n"
      "## On GPUs\n"
      "\n"
      "These have kernels for GPUs, in the CPU's dtypes unless dtypes are listed ({} of {}):\n"
      "{}\n"
      "\n"
      "These have none; calling one on a GPU raises an error:\n"
      "{}\n",
      there.size(), there.size() + missing.size(), fmt::join(there, " · "),
      fmt::join(missing, " · "));
}

}  // namespace

std::string signature_of(const OpRule& rule) {
  std::vector<std::string> tensors, attributes;
  for (const auto& tensor : rule.tensors()) {
    const char* mark = tensor.kind == TensorKind::kList       ? "[]"
                       : tensor.kind == TensorKind::kOptional ? "?"
                                                              : "";
    tensors.push_back(fmt::format("{}{}", tensor.name, mark));
  }
  for (const auto& attribute : rule.attributes()) {
    attributes.push_back(attribute.by_default
                             ? fmt::format("{}={}", attribute.name, to_text(*attribute.by_default))
                             : attribute.name);
  }
  return fmt::format("{}({}{}{}) -> {}", rule.name(), fmt::join(tensors, ", "),
                     attributes.empty() ? "" : "; ", fmt::join(attributes, ", "),
                     fmt::join(rule.outputs(), ", "));
}

std::string operators_document() {
  std::string rows;
  std::set<std::string_view> operators;
  std::vector<const OpDef*> all(ops::all().begin(), ops::all().end());
  std::ranges::sort(all, {}, [](const OpDef* op) { return std::string_view(op->name); });
  for (const OpDef* op : all) {
    operators.insert(op->name);
    if (!is_gradient(op->name)) rows += row_of(*op);
  }
  std::vector<std::string> made_of_others;
  for (const NamedCall& call : built_in_calls()) {
    if (operators.contains(call.name) || is_gradient(call.name)) continue;
    made_of_others.push_back(fmt::format("`{}`", call.name));
  }
  std::ranges::sort(made_of_others);
  const auto forward =
      std::ranges::count_if(all, [](const OpDef* op) { return !is_gradient(op->name); });
  std::string page =
      fmt::format("{}{} operators, {} of them composed of others.\n\n", kHead,
                  static_cast<size_t>(forward) + made_of_others.size(), made_of_others.size());
  page += "| operator | dtypes | rule | gradient | PyTorch |\n|---|---|---|---|---|\n" + rows;
  page += fmt::format("\n## Composed of others\n\n{}\n", fmt::join(made_of_others, " · "));
  page += "\n## Left out\n\n| operator | why |\n|---|---|\n";
  for (const MissingOperator& left : missing_operators())
    page += fmt::format("| {} | {} |\n", left.op, left.why);
  return page + section_of_gpus(all);
}

}  // namespace phi::op_tool
