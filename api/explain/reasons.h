// Why a rule wants its inputs otherwise than they are: found by asking the rule again, about the
// same call with some of the placements taken away. Rules need not know of it.
#pragma once

#include <string>
#include <vector>

#include "distributed/placement/dist_attr.h"
#include "phi/core/attribute_value.h"
#include "phi/core/meta.h"
#include "phi/core/op_def.h"

namespace phi {

/// A distributed call that was decided.
struct DecidedCall {
  struct Slot {
    std::string name;
    TensorMeta meta;
    const distributed::TensorDistAttr* given = nullptr;   // null: plain, or absent
    const distributed::TensorDistAttr* wanted = nullptr;  // null: absent
  };

  const OpDef& op;
  distributed::ProcessMesh mesh;  // the op's
  std::vector<AttributeValue> attributes;
  std::vector<Slot> inputs;                                 // of all arguments, one after the other
  std::vector<int> begin;                                   // the first slot of each argument
  std::vector<const distributed::TensorDistAttr*> outputs;  // null: absent

  /// "softmax(axis=1)": with the attributes that placements depend on, but those that are false.
  std::string to_string() const;
};

struct Reasons {
  std::vector<std::string> inputs;   // empty: it is taken as it is given
  std::vector<std::string> outputs;  // of partial ones; else empty
};

/// Asks the op's rule some times for each input that is not taken as it is. Never throws.
Reasons reasons_of(const DecidedCall& call);

}  // namespace phi
