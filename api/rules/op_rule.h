// OpRule: an operator's placement rule and shape function, with names and run-time values of
// attributes; for tools and tests. Calls run the same functions (rule_functions.h).
//
//   const OpRule& matmul = rules::find("matmul");
//   const OpInference inference =
//       matmul.infer({mesh, {{x}, {y}}, matmul.attributes({{"transpose_x", true}})});
//   inference.inputs[0]; inference.outputs[0].attr;
//
// Each operator with a kernel has one, generated from its YAML entry (api/generated/defs). The list
// is made at first use, not by static initialisers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rules/rule_functions.h"

namespace phi {

enum class TensorKind : uint8_t { kOne, kOptional, kList };

/// A tensor argument of an OpCallSpec. OpRule::with_dtypes replaces UNDEFINED dtypes.
struct OpTensor {
  TensorMeta meta;
  const distributed::TensorDistAttr* attr = nullptr;  // null: an absent optional tensor
};

struct OpCallSpec {
  distributed::ProcessMesh mesh;
  std::vector<std::vector<OpTensor>> inputs;  // by argument: one tensor, or the elements of a list
  std::vector<AttributeValue> attributes;     // in the operator's order
};

struct OpInference {
  struct Output {
    std::optional<TensorMeta> meta;  // empty: an absent optional output
    const distributed::TensorDistAttr* attr = nullptr;
  };
  std::vector<const distributed::TensorDistAttr*> inputs;  // by slot: lists are flattened
  std::vector<Output> outputs;
};

class OpRule {
 public:
  struct TensorParameter {
    const char* name;
    TensorKind kind;
  };
  struct Attribute {
    const char* name;
    AttributeKind kind;
    std::optional<AttributeValue> by_default;
  };

  OpRule(const char* name, const RuleFunctions& functions) : name_(name), functions_(functions) {}
  OpRule&& tensor(const char* name, TensorKind kind = TensorKind::kOne) &&;
  /// An attribute of type T. `by_default`: its value if the caller passes none.
  template <typename T>
  static Attribute required(const char* name) {
    return {name, attribute_kind<T>(), std::nullopt};
  }
  template <typename T>
  static Attribute optional(const char* name, const T& by_default) {
    return optional(name, attribute_kind<T>(), attribute_value(by_default));
  }
  static Attribute optional(const char* name, AttributeKind kind, AttributeValue by_default);
  OpRule&& attribute(Attribute attribute) &&;
  OpRule&& output(const char* name) &&;

  std::string_view name() const { return name_; }
  /// The name of a rule function, or a factor declaration. Empty if inputs and outputs are
  /// replicated.
  std::string_view rule() const { return functions_.name; }
  /// The `partial` key of the YAML entry (partial_propagation.h); empty if it has none.
  std::string_view partial() const { return functions_.partial; }
  std::span<const TensorParameter> tensors() const { return tensors_; }
  std::span<const Attribute> attributes() const { return attributes_; }
  /// The names of the outputs; the last one may be a list.
  std::span<const char* const> outputs() const { return outputs_; }

  /// Returns the attribute of this name. Errors: InvalidArgument with the nearest name.
  const Attribute& attribute(std::string_view name) const;
  /// Returns a value for each attribute: the one in `given`, or its default. Errors:
  /// InvalidArgument for a name that the operator does not have, and for an attribute with neither.
  std::vector<AttributeValue> attributes(
      const std::vector<std::pair<std::string, AttributeValue>>& given) const;

  /// Returns the call with a dtype for each tensor. UNDEFINED becomes float32. If the shape
  /// function rejects that, up to two arguments get int64, bool or uint8; if it rejects these too,
  /// float32 remains.
  OpCallSpec with_dtypes(OpCallSpec call_spec) const;

  /// Infers what a call of the operator requires and returns. Errors: those of the shape function,
  /// which runs first, and of the rule; InvalidArgument if the tensors do not match the operator's
  /// arguments.
  OpInference infer(const OpCallSpec& call_spec, distributed::Conflicts* conflicts = nullptr) const;
  /// Same as infer() without partial propagation (partial_propagation.h).
  OpInference infer_by_rule(const OpCallSpec& call_spec) const;
  /// Infers the inputs that yield outputs with the given placements. `outputs`: one tensor for each
  /// output, of its shape.
  OpInference infer_backward(const OpCallSpec& call_spec, std::span<const OpTensor> outputs,
                             distributed::Conflicts* conflicts = nullptr) const;

  /// Runs the rule without the shape function. Requires that the operator has a rule.
  distributed::SpmdRule infer_spmd(const RuleArgs& args) const {
    return functions_.infer_spmd(args);
  }
  /// Returns the arguments for rule and shape function. Errors: InvalidArgument if tensors or
  /// attributes do not match the operator's.
  RuleArgs args(const OpCallSpec& call_spec) const;

 private:
  const char* name_;
  RuleFunctions functions_;
  std::vector<TensorParameter> tensors_;
  std::vector<Attribute> attributes_;
  std::vector<const char*> outputs_;
};

namespace rules {
/// The rules of all operators with a kernel, sorted by name. The span stays valid, and unchanged,
/// when operators are added.
std::span<const OpRule> all();
/// Returns the rule of the operator of this name. Errors: NotFound with the nearest names.
const OpRule& find(std::string_view name);
}  // namespace rules

}  // namespace phi
