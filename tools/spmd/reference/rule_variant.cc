// Parses the text of forms.
#include "tools/spmd/reference/rule_variant.h"

#include <deque>
#include <string>

namespace phi::spmd_tool {
namespace {

using distributed::Conflict;
using distributed::SpmdResult;
using distributed::SpmdRule;

// Stores text for the lifetime of the program, because OpRules store pointers only.
const char* kept(std::string_view text) {
  static auto& texts = *new std::deque<std::string>;
  return texts.emplace_back(text).c_str();
}

std::vector<std::string_view> list_of(std::string_view text) {
  std::vector<std::string_view> items;
  while (!text.empty()) {
    const size_t end = std::min(text.find(", "), text.size());
    items.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return items;
}

OpRule::Attribute attribute_of(std::string_view text) {
  const size_t colon = text.find(": ");
  PHI_CHECK(colon != text.npos, errors::InvalidArgument("'{}' is no attribute: its type.", text));
  const char* name = kept(text.substr(0, colon));
  const std::string_view type = text.substr(colon + 2);
  if (type == "bool") return OpRule::required<bool>(name);
  if (type == "int") return OpRule::required<int64_t>(name);
  if (type == "number") return OpRule::required<Scalar>(name);
  if (type == "float") return OpRule::required<double>(name);
  if (type == "string") return OpRule::required<std::string>(name);
  if (type == "dtype") return OpRule::required<DataType>(name);
  if (type == "ints") return OpRule::required<std::vector<int64_t>>(name);
  throw errors::InvalidArgument("'{}' is no type of attribute.", text);
}

class ComposedRule : public SpmdRule::CustomRule {
 public:
  ComposedRule(InferFunction infer, const RuleArgs& args) : infer_(infer), args_(args) {}

  SpmdResult forward() const override { return infer_(args_); }
  SpmdResult backward(std::span<const distributed::TensorSpec>) const override {
    throw errors::Unimplemented("the rule infers from its inputs only.");
  }

 private:
  InferFunction infer_;
  RuleArgs args_;
};

}  // namespace

OpRule rule_variant(const char* name, const RuleFunctions& functions, std::string_view tensors,
                    std::string_view attributes) {
  OpRule rule(name, functions);
  for (std::string_view tensor : list_of(tensors)) {
    auto kind = TensorKind::kOne;
    if (tensor.front() == '[') {
      kind = TensorKind::kList;
      tensor = tensor.substr(1, tensor.size() - 2);
    } else if (tensor.back() == '?') {
      kind = TensorKind::kOptional;
      tensor.remove_suffix(1);
    }
    std::move(rule).tensor(kept(tensor), kind);
  }
  for (std::string_view attribute : list_of(attributes)) {
    std::move(rule).attribute(attribute_of(attribute));
  }
  return rule;
}

void refuse_conflicts(const distributed::Conflicts& conflicts, bool refuses_shared_mesh_dims) {
  for (const Conflict& conflict : conflicts) {
    const bool passes =
        conflict.kind == Conflict::Kind::kSharedMeshDim && !refuses_shared_mesh_dims;
    PHI_CHECK(passes, errors::Unimplemented("{}; reshard one of them first.", conflict.text));
  }
}

SpmdResult resolved_result(const SpmdRule& rule, bool refuses_shared_mesh_dims) {
  distributed::Conflicts conflicts;
  SpmdResult result = rule.forward(&conflicts);
  refuse_conflicts(conflicts, refuses_shared_mesh_dims);
  return result;
}

SpmdRule composed_rule(InferFunction infer, const RuleArgs& args) {
  return SpmdRule(std::make_shared<const ComposedRule>(infer, args));
}

}  // namespace phi::spmd_tool
