// The reference's rules: by which of our operators each recorded name is answered, and what the
// reference does otherwise than operators that run need it (tools/spmd/reference, by subject).
//
//   const Reference& matmul = find_reference("matmul_v2");   // matmul; trans_x is transpose_x
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/rules/op_rule.h"

namespace phi::spmd_tool {

enum class Direction : uint8_t { kForward, kBackward, kGrad };

/// What the reference answers, asked from the outputs, for the outputs.
enum class BackwardOutputs : uint8_t {
  kInferred,      // as our rules do
  kAsGiven,       // the question's own
  kAsGivenWhole,  // the same, the first made whole where partial
};

/// How it answers, asked from the inputs, for the inputs.
enum class ForwardInputs : uint8_t {
  kInferred,
  kApart,  // each as if the others were whole: what they ask of one another shows in outputs alone
  kAsGiven,  // the question's own
};

/// Where a dim that is split over several mesh dims shows the largest of them alone.
enum class OneMeshDim : uint8_t {
  kNowhere,
  kOutputs,         // asked from the inputs, in outputs
  kBackwardInputs,  // asked from the outputs, in inputs
};

/// What only the reference does. Also, it refuses any question in which two tensors split a factor
/// over different mesh dims, or dims that have to be whole are split over different ones.
struct Policies {
  BackwardOutputs backward_outputs = BackwardOutputs::kInferred;
  /// Why it refuses a question that our rules answer; null: it does not.
  const char* (*refusal)(const RuleArgs& args, Direction direction) = nullptr;
  /// Refuses one mesh dim for several factors.
  bool refuses_shared_mesh_dims = false;
  ForwardInputs forward_inputs = ForwardInputs::kInferred;
  OneMeshDim one_mesh_dim = OneMeshDim::kNowhere;
  /// Asked from the outputs it leaves tensors partial as they are given.
  bool keeps_partial = false;
  /// The last output decides before the first.
  bool last_output_first = false;
  /// Bit i: a scalar given for output i means that it is absent.
  uint32_t scalars_are_absent = 0;
  /// Whether the first output is left out.
  bool (*lacks_first_output)(const RuleArgs& args) = nullptr;
};

struct Reference {
  /// An attribute's name in the cases and in our operator; "" there: read, and of no effect.
  struct Renamed {
    std::string recorded;
    std::string ours;
  };

  std::string name;
  const OpRule* rule;
  const OpRule* grad;  // asked for the direction grad; null: none
  std::vector<Renamed> renamed;
  Policies policies;

  const OpRule& of(Direction direction) const {
    return direction == Direction::kGrad ? *grad : *rule;
  }
  /// The attribute of our operator; null for one without effect. Errors: InvalidArgument with the
  /// names that there are.
  const OpRule::Attribute* attribute(const std::string& recorded, Direction direction) const;
};

/// Errors: NotFound with the nearest names.
const Reference& find_reference(std::string_view name);

}  // namespace phi::spmd_tool
