// OpRule: how an operator's placement rule and shape function are asked by name, with values for
// its attributes: for tools and tests. Calls ask the same functions (rule_functions.h).
//
//   const OpRule& matmul = rules::find("matmul");
//   const OpAnswer answer =
//       matmul.answer({mesh, {{x}, {y}}, matmul.attributes({{"transpose_x", true}})});
//   answer.inputs[0]; answer.outputs[0].attr;
//
// Each operator with a kernel has one, generated from its YAML entry (api/generated/defs);
// no static initialisers: the list is made when it is first asked for.
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

/// A tensor in a question. UNDEFINED dtypes are chosen by OpRule::with_dtypes.
struct OpTensor {
  TensorMeta meta;
  const distributed::TensorDistAttr* attr = nullptr;  // null: an optional tensor that is not given
};

struct OpQuestion {
  distributed::ProcessMesh mesh;
  std::vector<std::vector<OpTensor>> inputs;  // an entry per argument: one tensor, or a list
  std::vector<AttributeValue> attributes;     // in the operator's order
};

struct OpAnswer {
  struct Output {
    std::optional<TensorMeta> meta;  // none: an optional output that is absent
    const distributed::TensorDistAttr* attr = nullptr;
  };
  std::vector<const distributed::TensorDistAttr*> inputs;  // lists one element after the other
  std::vector<Output> outputs;
};

class OpRule {
 public:
  struct Tensor {
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
  /// Of type T; `by_default` is its value where none is given.
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
  /// A function, a declaration, or nothing where inputs and outputs are replicated.
  std::string_view rule() const { return functions_.name; }
  /// What lets partial inputs pass that the rule makes whole, as the entry says it; empty: nothing.
  std::string_view partial() const { return functions_.partial; }
  std::span<const Tensor> tensors() const { return tensors_; }
  std::span<const Attribute> attributes() const { return attributes_; }
  /// Names; the last may stand for a list.
  std::span<const char* const> outputs() const { return outputs_; }

  /// Errors: InvalidArgument with the nearest name.
  const Attribute& attribute(std::string_view name) const;
  /// A value for each attribute: what is given, else its default. Errors: InvalidArgument for a
  /// name that the operator lacks, and for an attribute without value or default.
  std::vector<AttributeValue> attributes(
      const std::vector<std::pair<std::string, AttributeValue>>& given) const;

  /// The question with a dtype for each tensor: float32 where none is said, or what the shape
  /// function takes: up to two tensors of int64 or bool.
  OpQuestion with_dtypes(OpQuestion question) const;

  /// What a call of the operator does. Errors: those of the shape function, which is asked first,
  /// and of the rule; InvalidArgument if the tensors are not those that the operator takes.
  OpAnswer answer(const OpQuestion& question, distributed::Conflicts* conflicts = nullptr) const;
  /// The same as far as the rule goes, without what lets partial inputs pass beside it.
  OpAnswer answer_by_rule(const OpQuestion& question) const;
  /// The inputs that make outputs lie as those given do; one for each output, of its shape.
  OpAnswer answer_backward(const OpQuestion& question, std::span<const OpTensor> outputs,
                           distributed::Conflicts* conflicts = nullptr) const;

  /// The rule alone, for shapes that no shape function is to see. Not for an operator without one.
  distributed::SpmdRule ask(const RuleArgs& args) const { return functions_.ask(args); }
  /// Errors: InvalidArgument if tensors or attributes are not those that the operator takes.
  RuleArgs args(const OpQuestion& question) const;

 private:
  const char* name_;
  RuleFunctions functions_;
  std::vector<Tensor> tensors_;
  std::vector<Attribute> attributes_;
  std::vector<const char*> outputs_;
};

namespace rules {
/// Of all operators with a kernel, sorted by name; the list stays as it is when others are added.
std::span<const OpRule> all();
/// Errors: NotFound with the nearest names.
const OpRule& find(std::string_view name);
}  // namespace rules

}  // namespace phi
