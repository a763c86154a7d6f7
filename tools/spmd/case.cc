// Asking a rule a case's question, and judging the answer.
#include "tools/spmd/case.h"

#include <fmt/ranges.h>

#include "phi/common/errors.h"

namespace phi::spmd_tool {
namespace {

using distributed::ProcessMesh;
using distributed::RuleFunction;
using distributed::SpmdResult;
using distributed::TensorDistAttr;
using distributed::TensorKind;
using distributed::TensorSpec;

distributed::ReduceKind kind_of(const TensorText& text, size_t i) {
  return text.partial_kinds.empty() ? distributed::ReduceKind::kSum : text.partial_kinds[i];
}

TensorSpec spec_of(const TensorText& text, const ProcessMesh& mesh) {
  PHI_CHECK(text.dims_mapping.size() == text.shape.size(),
            errors::InvalidArgument("a tensor of {} dims [{}] has a dims_mapping of {} entries.",
                                    text.shape.size(), fmt::join(text.shape, ","),
                                    text.dims_mapping.size()));
  std::vector<std::pair<int, distributed::ReduceKind>> partial;
  for (size_t i = 0; i < text.partial.size(); ++i)
    partial.emplace_back(text.partial[i], kind_of(text, i));
  return {Dims(text.shape), TensorDistAttr::from_dims_mapping(mesh, text.dims_mapping, partial)};
}

const RuleFunction& function_of(const distributed::RuleEntry& rule, Direction direction) {
  return direction == Direction::kGrad ? rule.grad : rule.forward;
}

// An optional tensor of no dims is one that is not given.
std::vector<std::vector<TensorSpec>> specs_of(const RuleFunction& function,
                                              const Question& question, const ProcessMesh& mesh) {
  const bool outputs_too = takes_outputs(function, question.inputs.size());
  PHI_CHECK(
      outputs_too || question.inputs.size() == function.tensor_kinds.size(),
      errors::InvalidArgument("{} inputs are given, the rule takes {}: {}.", question.inputs.size(),
                              function.tensor_kinds.size(), function.tensors));
  std::vector<std::vector<TensorSpec>> specs;
  for (size_t i = 0; i < question.inputs.size(); ++i) {
    const bool optional = function.tensor_kinds[i] == TensorKind::kOptional;
    auto& argument = specs.emplace_back();
    for (const TensorText& text : question.inputs[i].tensors) {
      const bool absent = optional && text.shape.empty() && text.dims_mapping.empty();
      argument.push_back(absent ? TensorSpec{} : spec_of(text, mesh));
    }
  }
  if (outputs_too) {
    auto& outputs = specs.emplace_back();
    for (const ArgumentText& argument : question.outputs) {
      for (const TensorText& text : argument.tensors) outputs.push_back(spec_of(text, mesh));
    }
  }
  return specs;
}

// Compares entry by entry; what is answered for an absent tensor carries no meaning.
bool same(const TensorDistAttr* actual, const TensorText& expected) {
  if (actual == nullptr) return true;
  const int ndim = static_cast<int>(expected.dims_mapping.size());
  for (const auto& placement : actual->placements()) {
    if (placement.is_shard() && placement.tensor_dim() >= ndim) return false;
  }
  for (size_t i = 0; i < expected.partial_kinds.size(); ++i) {
    const auto m = static_cast<size_t>(expected.partial[i]);
    if (m >= actual->placements().size()) return false;
    const auto& placement = actual->placements()[m];
    if (!placement.is_partial() || placement.reduce() != expected.partial_kinds[i]) return false;
  }
  return actual->dims_mapping(ndim) == expected.dims_mapping &&
         actual->partial_dims() == expected.partial;
}

bool same(const distributed::AttrList& actual, const std::vector<TensorText>& expected) {
  if (actual.size() != expected.size()) return false;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!same(actual[i], expected[i])) return false;
  }
  return true;
}

std::string list_text(const distributed::AttrList& actual, const std::vector<TensorText>& like) {
  std::string text;
  for (size_t i = 0; i < actual.size(); ++i) {
    const int ndim = i < like.size() ? static_cast<int>(like[i].dims_mapping.size()) : 0;
    text += (i > 0 ? " " : "") + to_text(actual[i], ndim);
  }
  return text;
}

std::string entry_text(const std::vector<int>& mesh_dims) {
  return mesh_dims.empty() ? "_" : fmt::format("{}", fmt::join(mesh_dims, "+"));
}

}  // namespace

bool takes_outputs(const RuleFunction& function, size_t num_inputs) {
  return num_inputs + 1 == function.tensor_kinds.size() &&
         function.tensor_kinds.back() == TensorKind::kList;
}

SpmdResult answer(const distributed::RuleEntry& rule, const Question& question,
                  distributed::Strictness strictness) {
  const ProcessMesh mesh(question.mesh);
  const RuleFunction& function = function_of(rule, question.direction);
  const auto inputs = specs_of(function, question, mesh);
  const auto bound = function.call(inputs, question.attrs);
  if (question.direction != Direction::kBackward) return bound.forward(strictness);
  std::vector<TensorSpec> outputs;
  for (const ArgumentText& argument : question.outputs) {
    for (const TensorText& text : argument.tensors) outputs.push_back(spec_of(text, mesh));
  }
  return bound.backward(outputs, strictness);
}

Verdict judge(const distributed::RuleEntry& rule, const Case& c) {
  try {
    const SpmdResult actual = answer(rule, c.question, distributed::Strictness::kRefuse);
    if (!c.expected) {
      return {false, list_text(actual.inputs, {}) + " -> " + list_text(actual.outputs, {})};
    }
    return {same(actual.inputs, c.expected->inputs) && same(actual.outputs, c.expected->outputs),
            list_text(actual.inputs, c.expected->inputs) + " -> " +
                list_text(actual.outputs, c.expected->outputs)};
  } catch (const Error& error) {
    return {!c.expected, std::string("refused: ") + error.what()};
  }
}

std::string to_text(const TensorText& tensor) {
  std::vector<std::string> entries;
  for (const auto& mesh_dims : tensor.dims_mapping) entries.push_back(entry_text(mesh_dims));
  for (size_t i = 0; i < tensor.partial.size(); ++i) {
    const auto kind = kind_of(tensor, i);
    const bool is_sum = kind == distributed::ReduceKind::kSum;
    entries.push_back(fmt::format("p{}{}", tensor.partial[i],
                                  is_sum ? "" : fmt::format("({})", distributed::name_of(kind))));
  }
  return fmt::format("{}[{}]", fmt::join(tensor.shape, "x"), fmt::join(entries, ","));
}

std::string to_text(const TensorDistAttr* attr, int ndim) {
  if (attr == nullptr) return "absent";
  for (const auto& p : attr->placements()) {
    if (p.is_shard()) ndim = std::max(ndim, p.tensor_dim() + 1);
  }
  std::vector<distributed::ReduceKind> kinds;
  for (int m : attr->partial_dims()) {
    kinds.push_back(attr->placements()[static_cast<size_t>(m)].reduce());
  }
  return to_text(TensorText{{}, attr->dims_mapping(ndim), attr->partial_dims(), kinds});
}

std::string to_text(const distributed::AttrValue& value) {
  struct Text {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const std::vector<int64_t>& v) const {
      return fmt::format("{}", fmt::join(v, ","));
    }
    std::string operator()(DataType v) const { return std::string(name_of(v)); }
  };
  return std::visit(Text(), value);
}

std::string to_text(const distributed::RuleEntry& rule, const Question& question) {
  const RuleFunction& function = function_of(rule, question.direction);
  std::string text = fmt::format("{}{} --mesh={}", rule.name,
                                 question.direction == Direction::kGrad ? " (grad)" : "",
                                 fmt::join(question.mesh, "x"));
  const auto add = [&](const std::vector<ArgumentText>& arguments, const char* flag) {
    for (const auto& argument : arguments) {
      std::vector<std::string> tensors;
      for (const auto& tensor : argument.tensors) tensors.push_back(to_text(tensor));
      text += fmt::format(" --{}='{}'", flag, fmt::join(tensors, " "));
    }
  };
  add(question.inputs, "in");
  add(question.outputs, "out");
  const auto names = distributed::split_names(function.attrs);
  for (size_t i = 0; i < question.attrs.size(); ++i) {
    text += fmt::format(" --attr {}={}", names[i], to_text(question.attrs[i]));
  }
  return text;
}

std::string to_text(const Expected& expected) {
  const auto list = [](const std::vector<TensorText>& tensors) {
    std::vector<std::string> texts;
    for (const auto& tensor : tensors) texts.push_back(to_text(tensor));
    return fmt::format("{}", fmt::join(texts, " "));
  };
  return list(expected.inputs) + " -> " + list(expected.outputs);
}

}  // namespace phi::spmd_tool
