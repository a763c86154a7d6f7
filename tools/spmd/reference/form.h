// Forms: rules that no operator of ours has, or has in another form, asked as OpRules are: a name,
// the rule's function, tensors and attributes ("x", "k: int, axis: int, largest: bool").
//
// Tensors and attributes are written as in the table of the recorded cases: "x, y?, [indices]"; a
// number is what the operator takes as a Scalar.
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "api/rules/op_rule.h"
#include "tools/spmd/reference.h"

namespace phi::spmd_tool {

/// The arguments of a rule function, one after the other.
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
struct Asked;
template <typename... Parameters, distributed::SpmdRule (*kRule)(Parameters...)>
struct Asked<kRule> {
  static distributed::SpmdRule ask(const RuleArgs& args) {
    [[maybe_unused]] ArgReader reader(args);
    // Braces: from the left to the right.
    return std::apply(
        kRule, std::tuple<decltype(reader.next<Parameters>())...>{reader.next<Parameters>()...});
  }
};
/// A rule function, asked with the arguments as its parameters take them, in their order.
template <auto kRule>
inline constexpr RuleFunctions::Ask ask_rule = Asked<kRule>::ask;

/// Errors: InvalidArgument for a text that is not as above.
OpRule form(const char* name, const RuleFunctions& functions, std::string_view tensors,
            std::string_view attributes = "");

/// Errors: Unimplemented for what the reference refuses: two tensors split a factor over different
/// mesh dims, or, if it says so, one mesh dim splits two factors.
void refuse(const distributed::Conflicts& conflicts, bool refuses_shared_mesh_dims);
/// What a rule answers where nothing is refused.
distributed::SpmdResult settled(const distributed::SpmdRule& rule,
                                bool refuses_shared_mesh_dims = false);

/// For an answer that no one declaration gives; asked from the inputs only.
using Answer = distributed::SpmdResult (*)(const RuleArgs& args);
distributed::SpmdRule composed_rule(Answer answer, const RuleArgs& args);
template <Answer kAnswer>
distributed::SpmdRule composed(const RuleArgs& args) {
  return composed_rule(kAnswer, args);
}

/// One row of the table: where a name is no operator of ours, or answered otherwise than by it.
struct Row {
  std::string_view names;  // separated by blanks
  const char* rule;        // an operator or a form; "": the names are operators
  Policies policies = {};
  std::vector<Reference::Renamed> renamed = {};
  const char* grad = nullptr;
};

/// What one file tells of its subject.
struct Subject {
  std::vector<OpRule> forms;
  std::vector<Row> rows;
};

Subject elementwise_subject();
Subject reduction_subject();
Subject shape_subject();
Subject product_subject();
Subject indexing_subject();
Subject network_subject();
Subject image_subject();

}  // namespace phi::spmd_tool
