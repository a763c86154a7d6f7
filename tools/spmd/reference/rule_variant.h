// Forms: rules that no operator of ours has, or has with other arguments, wrapped as OpRules: a
// name, the rule's function, tensors and attributes ("x", "k: int, axis: int, largest: bool").
//
// Tensors and attributes are written as in the table of the recorded cases: "x, y?, [indices]"; a
// number is an argument that the operator accepts as a Scalar.
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "api/rules/op_rule.h"
#include "tools/spmd/reference.h"

namespace phi::spmd_tool {

/// Reads the arguments of a rule function, in order.
class ArgReader {
 public:
  explicit ArgReader(const RuleArgs& args) : args_(args) {}

  template <typename Parameter>
  decltype(auto) next() {
    using T = std::remove_cvref_t<Parameter>;
    if constexpr (std::is_same_v<T, distributed::TensorSpec>) {
      return args_.spec(tensor_++);
    } else if constexpr (std::is_same_v<T, const distributed::TensorSpec*>) {
      return args_.optional_spec(tensor_++);
    } else if constexpr (std::is_same_v<T, std::span<const distributed::TensorSpec>>) {
      return args_.list_spec(tensor_++);
    } else {
      return args_.attr<T>(attribute_++);
    }
  }

 private:
  const RuleArgs& args_;
  int tensor_ = 0;
  int attribute_ = 0;
};

template <auto kRule>
struct RuleInvoker;
template <typename... Parameters, distributed::SpmdRule (*kRule)(Parameters...)>
struct RuleInvoker<kRule> {
  static distributed::SpmdRule infer_spmd(const RuleArgs& args) {
    [[maybe_unused]] ArgReader reader(args);
    // Braces guarantee evaluation from left to right.
    return std::apply(
        kRule, std::tuple<decltype(reader.next<Parameters>())...>{reader.next<Parameters>()...});
  }
};
/// A rule function as RuleFunctions::InferSpmd, with its parameters read in order.
template <auto kRule>
inline constexpr RuleFunctions::InferSpmd infer_rule = RuleInvoker<kRule>::infer_spmd;

/// Errors: InvalidArgument for text in another format.
OpRule rule_variant(const char* name, const RuleFunctions& functions, std::string_view tensors,
                    std::string_view attributes = "");

/// Errors: Unimplemented for conflicts that the reference refuses: two tensors split a factor over
/// different mesh dims, or, with `refuses_shared_mesh_dims`, one mesh dim splits two factors.
void refuse_conflicts(const distributed::Conflicts& conflicts, bool refuses_shared_mesh_dims);
/// The result of a rule after refuse().
distributed::SpmdResult resolved_result(const distributed::SpmdRule& rule,
                                        bool refuses_shared_mesh_dims = false);

/// A result that no single declaration can express; forward direction only.
using InferFunction = distributed::SpmdResult (*)(const RuleArgs& args);
distributed::SpmdRule composed_rule(InferFunction infer, const RuleArgs& args);
template <InferFunction kInfer>
distributed::SpmdRule composed(const RuleArgs& args) {
  return composed_rule(kInfer, args);
}

/// A row of the table: names that are no operator of ours, or that differ from it.
struct ReferenceEntry {
  std::string_view names;  // separated by blanks
  const char* rule;        // operator or form; "": each name is an operator
  Policies policies = {};
  std::vector<Reference::Renamed> renamed = {};
  const char* grad = nullptr;
};

/// The forms and rows that one file contributes.
struct ReferenceRules {
  std::vector<OpRule> variants;
  std::vector<ReferenceEntry> entries;
};

ReferenceRules elementwise_reference_rules();
ReferenceRules reduction_reference_rules();
ReferenceRules shape_reference_rules();
ReferenceRules matmul_reference_rules();
ReferenceRules indexing_reference_rules();
ReferenceRules network_reference_rules();
ReferenceRules image_reference_rules();

}  // namespace phi::spmd_tool
