// Finds out why a rule requires other input placements: it runs the rule again on the same call
// with some of the placements removed. Rules contain no code for this.
#pragma once

#include <string>
#include <vector>

#include "distributed/placement/dist_attr.h"
#include "phi/core/attribute_value.h"
#include "phi/core/meta.h"
#include "phi/core/op_def.h"

namespace phi {

/// A distributed call with its decision.
struct DistributedCall {
  struct Slot {
    std::string name;
    TensorMeta meta;
    const distributed::TensorDistAttr* given = nullptr;   // null: plain, or absent
    const distributed::TensorDistAttr* wanted = nullptr;  // null: absent
  };

  const OpDef& op;
  distributed::ProcessMesh mesh;  // the op's
  std::vector<AttributeValue> attributes;
  std::vector<Slot> inputs;                                 // slots of all arguments, in order
  std::vector<int> begin;                                   // the first slot of each argument
  std::vector<const distributed::TensorDistAttr*> outputs;  // null: absent

  /// "softmax(axis=1)", with the attributes that placements depend on, except false ones.
  std::string to_string() const;
};

struct Reasons {
  std::vector<std::string> inputs;   // empty: the input keeps its placements
  std::vector<std::string> outputs;  // for partial outputs; otherwise empty
};

/// Runs the op's rule several times for each input that changes placements. Never throws.
Reasons reasons_of(const DistributedCall& call);

}  // namespace phi
