// A call whose placements are tried, and the placements.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "distributed/spmd/spec.h"
#include "tests/api/rules_verification/captured_calls.h"
#include "tests/api/rules_verification/parts.h"

namespace phi::testing {

/// A tensor of each argument: a list has several, an absent optional one is undefined.
using Arguments = std::vector<TensorList>;
/// How each tensor of a call lies, those of lists one after the other; null where one is absent.
using InputLayout = std::vector<const distributed::TensorDistAttr*>;

struct Trial {
  std::string name;  // "matmul f32[5,6], f32[6,3]"
  Arguments arguments;
  /// Makes the call, on plain tensors or on distributed ones; may write to them.
  std::function<TensorList(const Arguments&)> call;
  /// What the rule answers; needs no ranks.
  std::function<distributed::SpmdResult(const distributed::ProcessMesh&, const InputLayout&)> infer;
  /// Whether whole tensors of these shapes, by tensor, are a call's; null: all are.
  std::function<bool(const std::vector<Dims>&)> takes;
  std::vector<std::string> slot_names;  // by tensor: "x", "inputs[1]"
  uint64_t unread = 0;                  // bit i: of tensor i only the meta is used
  double tolerance = 1e-5;

  // What follows from these.
  std::vector<Whole> inputs;    // by tensor, with rounded values; empty where one is absent
  std::vector<Whole> expected;  // by output, of the plain call
  std::vector<bool> is_given;   // by output: it is there

  /// The arguments with these tensors.
  Arguments with(const TensorList& slots) const;
};

/// Rounds the arguments and makes the plain call. Where one is rare none will be partial.
Trial completed(Trial trial);
/// The call of an operator, with the kernel and the rule that it has.
Trial trial_of(const CapturedCall& call);

/// Every way in which x can lie on a mesh: whole, split along any tensor dim (along one of them by
/// several mesh dims too, in both orders), a partial sum, mean, maximum or minimum, or of bool any
/// and all (of uint8 no sum); a rare value is not partial.
std::vector<const distributed::TensorDistAttr*> layouts_of(const Whole& x,
                                                           const distributed::ProcessMesh& mesh);

/// All layouts of the trial's inputs if these are no more than `most`, else `most` of them drawn.
std::vector<InputLayout> layouts(const Trial& trial, const distributed::ProcessMesh& mesh,
                                 size_t most, std::mt19937& rng);

/// "x f32[5,6] [S0,P(sum)], y ..."
std::string describe(const Trial& trial, const InputLayout& layout);

}  // namespace phi::testing
