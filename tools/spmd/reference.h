// The reference's rules: which of our operators corresponds to each recorded name, and what the
// reference does differently from our rules (tools/spmd/reference, by subject).
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

/// The outputs that the reference infers in the backward direction.
enum class BackwardOutputs : uint8_t {
  kInferred,      // like our rules
  kAsGiven,       // unchanged
  kAsGivenWhole,  // unchanged, but the first made unsharded if partial
};

/// The inputs that it infers in the forward direction.
enum class ForwardInputs : uint8_t {
  kInferred,
  // Each input as if the others were replicated: conflicts affect only the outputs.
  kIndependent,
  kAsGiven,  // unchanged
};

/// Results in which a tensor dim that is split over several mesh dims shows only the largest of
/// them.
enum class OneMeshDim : uint8_t {
  kNowhere,
  kOutputs,         // outputs, in the forward direction
  kBackwardInputs,  // inputs, in the backward direction
};

/// Behaviour of the reference that our rules do not share. In addition it refuses any question in
/// which two tensors split a factor over different mesh dims, or in which dims that must not be
/// split are split over different ones.
struct Policies {
  BackwardOutputs backward_outputs = BackwardOutputs::kInferred;
  /// The reason why it refuses a question that our rules accept; null: it does not.
  const char* (*refusal)(const RuleArgs& args, Direction direction) = nullptr;
  /// Refuses a mesh dim that splits several factors.
  bool refuses_shared_mesh_dims = false;
  /// Reduces partial inputs that our rule accepts.
  bool reduces_partial = false;
  ForwardInputs forward_inputs = ForwardInputs::kInferred;
  OneMeshDim one_mesh_dim = OneMeshDim::kNowhere;
  /// In the backward direction, tensors stay partial as given.
  bool keeps_partial = false;
  /// The last output takes precedence over the first.
  bool last_output_first = false;
  /// Bit i: a scalar given for output i means that the output is absent.
  uint32_t scalars_are_absent = 0;
  /// Whether the first output is missing.
  bool (*lacks_first_output)(const RuleArgs& args) = nullptr;
};

struct Reference {
  /// An attribute's name in the cases and in our operator; an empty name means no effect.
  struct Renamed {
    std::string recorded;
    std::string ours;
  };

  std::string name;
  const OpRule* rule;
  const OpRule* grad;  // for the direction kGrad; null: none
  std::vector<Renamed> renamed;
  Policies policies;

  const OpRule& of(Direction direction) const {
    return direction == Direction::kGrad ? *grad : *rule;
  }
  /// The attribute of our operator; null for one without effect.
  /// Errors: InvalidArgument with the known names.
  const OpRule::Attribute* attribute(const std::string& recorded, Direction direction) const;
};

/// Errors: NotFound with the nearest names.
const Reference& find_reference(std::string_view name);

}  // namespace phi::spmd_tool
