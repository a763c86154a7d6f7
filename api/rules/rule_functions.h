// RuleFunctions: how an operator's placement rule and its shape function are asked, whatever their
// own parameters are. Each operator with a kernel has them, generated from its YAML entry
// (api/generated/defs); its OpDef leads to them.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "api/rules/partial_laws.h"
#include "distributed/spmd/rule.h"
#include "phi/core/attribute_value.h"
#include "phi/core/meta.h"
#include "phi/infermeta/output_metas.h"

namespace phi {

/// The arguments of a call as the functions of one operator take them. All tensors are on one mesh.
class RuleArgs {
 public:
  RuleArgs(const distributed::ProcessMesh& mesh, std::vector<AttributeValue> attributes)
      : mesh_(mesh), attributes_(std::move(attributes)) {}
  /// The next tensor argument: one tensor, an optional one, or the elements of a list.
  void add_argument() { arguments_.emplace_back(); }
  /// A tensor of the argument that was added last; its attr is null where it is absent.
  void add(const distributed::TensorSpec& spec, const TensorMeta& meta) {
    arguments_.back().specs.push_back(spec);
    arguments_.back().metas.push_back(meta);
  }

  const distributed::ProcessMesh& mesh() const { return mesh_; }
  const distributed::TensorSpec& spec(int arg) const { return arguments_[arg].specs[0]; }
  const distributed::TensorSpec* optional_spec(int arg) const {
    return spec(arg).absent() ? nullptr : &spec(arg);
  }
  std::span<const distributed::TensorSpec> list_spec(int arg) const {
    return arguments_[arg].specs;
  }
  const TensorMeta& meta(int arg) const { return arguments_[arg].metas[0]; }
  const TensorMeta* optional_meta(int arg) const {
    return spec(arg).absent() ? nullptr : &meta(arg);
  }
  std::span<const TensorMeta> list_meta(int arg) const { return arguments_[arg].metas; }
  /// T: a type of attribute that decides (attribute_types.h), optional or not.
  template <typename T>
  T attr(int i) const;
  const AttributeValue& attribute(int i) const { return attributes_[i]; }
  /// All tensors, lists one element after the other.
  std::vector<distributed::TensorSpec> slots() const;
  /// The same call with a slot placed otherwise.
  void place(size_t slot, const distributed::TensorDistAttr* attr);
  /// The slots of an argument: the first one, and how many.
  std::pair<size_t, size_t> slots_of(int arg) const;
  int num_arguments() const { return static_cast<int>(arguments_.size()); }

 private:
  struct Argument {
    std::vector<distributed::TensorSpec> specs;
    std::vector<TensorMeta> metas;
  };
  distributed::ProcessMesh mesh_;
  std::vector<Argument> arguments_;
  std::vector<AttributeValue> attributes_;
};

class OpRule;

struct RuleFunctions {
  using Ask = distributed::SpmdRule (*)(const RuleArgs&);
  using Infer = OutputMetas (*)(const RuleArgs&);
  using Describe = OpRule (*)(const RuleFunctions&);

  const char* name;   // of the rule: a function, a declaration, or nothing where there is none
  Ask ask = nullptr;  // null: inputs and outputs are replicated
  Infer infer = nullptr;
  Describe describe = nullptr;  // by names, for tools
  // The arguments that the rule answers for, in its order; empty: the first ones, as many as it
  // does.
  std::span<const int> shown = {};
  // What lets partial inputs pass that the rule makes whole, as it is written and as values.
  const char* partial = "";
  std::span<const PartialLaw> laws = {};

  /// An attr for every tensor that is there. Inputs that the rule is not shown are needed whole,
  /// and partial ones stay so where the laws let them pass (partial_laws.h).
  /// Errors: the rule's; Internal if it does not answer for these tensors.
  distributed::SpmdResult forward(const RuleArgs& args, size_t num_outputs,
                                  distributed::Conflicts* conflicts = nullptr) const;
  /// The rule's own answer.
  distributed::SpmdResult forward_by_rule(const RuleArgs& args, size_t num_outputs,
                                          distributed::Conflicts* conflicts = nullptr) const;
  distributed::SpmdResult backward(const RuleArgs& args,
                                   std::span<const distributed::TensorSpec> outputs,
                                   distributed::Conflicts* conflicts = nullptr) const;
};

}  // namespace phi
