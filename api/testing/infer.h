// A placement rule asked in a test: what a call of an operator would do with tensors like these.
// Nothing is computed and nothing is sent.
//
//   const auto r =
//       phi::testing::infer("softmax", mesh, {{{8, 6}, {Shard(0)}}}, {{"axis", int64_t{1}}});
//   r.outputs[0]->to_string();  // "[S0,R] on mesh(dp=2,tp=2)"
//   const size_t moved = r.moves.size();  // 0
//
// Attributes are compared and printed by their words (distributed/placement/print.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rules/op_rule.h"
#include "distributed/placement/print.h"

namespace phi::testing {

/// A tensor in a question: shape, placements (missing ones are Replicate()), and a dtype where the
/// one that the operator takes first will not do.
struct AskedTensor {
  Dims shape;
  std::vector<distributed::Placement> placements;
  DataType dtype = DataType::UNDEFINED;
};

/// An argument: a tensor, a list of them, or an optional tensor that is not given.
struct AskedArgument {
  explicit(false) AskedArgument(std::nullopt_t) : tensors{std::nullopt} {}
  explicit(false) AskedArgument(AskedTensor tensor) : tensors{std::move(tensor)} {}
  AskedArgument(Dims shape, std::vector<distributed::Placement> placements,
                DataType dtype = DataType::UNDEFINED)
      : AskedArgument(AskedTensor{shape, std::move(placements), dtype}) {}
  explicit(false) AskedArgument(const std::vector<AskedTensor>& list)
      : tensors(list.begin(), list.end()) {}

  std::vector<std::optional<AskedTensor>> tensors;
};

struct Inferred {
  std::vector<const distributed::TensorDistAttr*> inputs;   // lists one element after the other;
  std::vector<const distributed::TensorDistAttr*> outputs;  // null: absent
  std::vector<Dims> shapes;                                 // of the outputs
  std::vector<size_t> moves;           // the inputs that the call would reshard
  std::vector<std::string> conflicts;  // where tensors ask for different things
};

/// `attributes`: those that are not the operator's defaults. Optional tensors at the end may be
/// left out. Errors: as OpRule::answer; NotFound for an operator that is not there.
Inferred infer(std::string_view op, const distributed::ProcessMesh& mesh,
               const std::vector<AskedArgument>& inputs,
               const std::vector<std::pair<std::string, AttributeValue>>& attributes = {});

/// The inputs that make `outputs` lie as they do.
Inferred infer_backward(std::string_view op, const distributed::ProcessMesh& mesh,
                        const std::vector<AskedArgument>& inputs,
                        const std::vector<AskedTensor>& outputs,
                        const std::vector<std::pair<std::string, AttributeValue>>& attributes = {});

}  // namespace phi::testing
