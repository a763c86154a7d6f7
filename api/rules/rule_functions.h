// RuleFunctions: type-erased pointers to an operator's placement rule and shape function. Each
// operator with a kernel has them, generated from its YAML entry (api/generated/defs); its OpDef
// points to them.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "api/rules/partial_propagation.h"
#include "distributed/spmd/rule.h"
#include "phi/core/attribute_value.h"
#include "phi/core/meta.h"
#include "phi/infermeta/output_metas.h"

namespace phi {

/// The arguments of a call in the form that rules and shape functions accept. All tensors are on
/// one mesh.
class RuleArgs {
 public:
  RuleArgs(const distributed::ProcessMesh& mesh, std::vector<AttributeValue> attributes)
      : mesh_(mesh), attributes_(std::move(attributes)) {}
  /// Begins the next tensor argument: a tensor, an optional one, or a list.
  void add_argument() { arguments_.emplace_back(); }
  /// Adds a tensor to the last argument. The attr of an absent one is null.
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
  /// T: a type of attribute that placements depend on (attribute_types.h), optional or not.
  template <typename T>
  T attr(int i) const;
  const AttributeValue& attribute(int i) const { return attributes_[i]; }
  /// All tensors by slot; lists are flattened.
  std::vector<distributed::TensorSpec> slots() const;
  /// Sets the distributed attribute of a slot.
  void place(size_t slot, const distributed::TensorDistAttr* attr);
  /// The first slot of an argument, and the number of its slots.
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
  using InferSpmd = distributed::SpmdRule (*)(const RuleArgs&);
  using InferMeta = OutputMetas (*)(const RuleArgs&);
  using Describe = OpRule (*)(const RuleFunctions&);

  const char* name;  // of the rule: a function, a declaration, or empty if there is none
  InferSpmd infer_spmd = nullptr;  // null: inputs and outputs are replicated
  InferMeta infer_meta = nullptr;
  Describe describe = nullptr;  // makes the OpRule, for tools
  // The arguments that the rule infers, in its order. Empty: the first ones, as many as its result
  // has.
  std::span<const int> shown = {};
  // The laws of partial propagation (partial_propagation.h), as text of the YAML entry and as
  // values.
  const char* partial = "";
  std::span<const PartialPropagation> propagations = {};

  /// Infers a distributed attribute for every present tensor. Inputs that the rule does not receive
  /// are required whole. Partial inputs stay partial where the laws allow it
  /// (partial_propagation.h). Errors: those of the rule; Internal if its result does not match
  /// these tensors.
  distributed::SpmdResult forward(const RuleArgs& args, size_t num_outputs,
                                  distributed::Conflicts* conflicts = nullptr) const;
  /// Like forward, but without the laws of partial propagation.
  distributed::SpmdResult forward_by_rule(const RuleArgs& args, size_t num_outputs,
                                          distributed::Conflicts* conflicts = nullptr) const;
  distributed::SpmdResult backward(const RuleArgs& args,
                                   std::span<const distributed::TensorSpec> outputs,
                                   distributed::Conflicts* conflicts = nullptr) const;
};

}  // namespace phi
