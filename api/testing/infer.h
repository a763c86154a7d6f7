// infer: runs an operator's placement rule in a test, for tensors given by shapes and placements.
// Nothing is computed or sent.
//
//   const auto r =
//       phi::testing::infer("softmax", mesh, {{{8, 6}, {Shard(0)}}}, {{"axis", int64_t{1}}});
//   r.outputs[0]->to_string();  // "[S0,R] on mesh(dp=2,tp=2)"
//   const size_t moved = r.moves.size();  // 0
//
// Attributes are compared and printed as text (distributed/placement/print.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rules/op_rule.h"
#include "distributed/placement/print.h"

namespace phi::testing {

/// A tensor by its metadata: shape, placements (missing ones are Replicate()), and dtype
/// (undefined: the first that the operator accepts).
struct RuleTensor {
  Dims shape;
  std::vector<distributed::Placement> placements;
  DataType dtype = DataType::UNDEFINED;
};

/// An argument: a tensor, a list of tensors, or an absent optional tensor.
struct RuleArgument {
  explicit(false) RuleArgument(std::nullopt_t) : tensors{std::nullopt} {}
  explicit(false) RuleArgument(RuleTensor tensor) : tensors{std::move(tensor)} {}
  RuleArgument(Dims shape, std::vector<distributed::Placement> placements,
               DataType dtype = DataType::UNDEFINED)
      : RuleArgument(RuleTensor{shape, std::move(placements), dtype}) {}
  explicit(false) RuleArgument(const std::vector<RuleTensor>& list)
      : tensors(list.begin(), list.end()) {}

  std::vector<std::optional<RuleTensor>> tensors;
};

struct Inferred {
  std::vector<const distributed::TensorDistAttr*> inputs;   // elements of lists in order
  std::vector<const distributed::TensorDistAttr*> outputs;  // null: absent
  std::vector<Dims> shapes;                                 // of the outputs
  std::vector<size_t> moves;           // indices of the inputs that the call would reshard
  std::vector<std::string> conflicts;  // conflicting placements of tensors
};

/// Runs the rule forward. `attributes` has the attributes that differ from their defaults. Trailing
/// optional tensors may be omitted.
/// Errors: as OpRule::infer; NotFound for an unknown operator.
Inferred infer(std::string_view op, const distributed::ProcessMesh& mesh,
               const std::vector<RuleArgument>& inputs,
               const std::vector<std::pair<std::string, AttributeValue>>& attributes = {});

/// Runs the rule backward: infers the input placements that lead to those of `outputs`.
Inferred infer_backward(std::string_view op, const distributed::ProcessMesh& mesh,
                        const std::vector<RuleArgument>& inputs,
                        const std::vector<RuleTensor>& outputs,
                        const std::vector<std::pair<std::string, AttributeValue>>& attributes = {});

}  // namespace phi::testing
