// The inputs and results of a sharding rule.
//
//   TensorSpec x{Dims{64, 32}, TensorDistAttr::get(mesh, {Shard(0)})};
//   SpmdResult r = MatmulInferSpmd(x, y, false, false).forward();   // r.inputs[0], r.outputs[0]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distributed/placement/dist_attr.h"
#include "phi/common/dims.h"
#include "phi/common/inline_vector.h"

namespace phi::distributed {

/// A tensor as a rule receives it: global shape and sharding. All tensors of a call are on one
/// mesh.
struct TensorSpec {
  Dims shape;
  const TensorDistAttr* attr = nullptr;  // null: an optional tensor that is not given
  const char* name = nullptr;            // of the argument, for messages; null: unknown

  bool absent() const { return attr == nullptr; }
  int ndim() const { return shape.ndim(); }
};

using AttrList = InlineVector<const TensorDistAttr*, 8>;

/// The required sharding of each input and the resulting sharding of each output. Both are in
/// signature order, with the elements of list arguments flattened; an absent tensor is null.
struct SpmdResult {
  AttrList inputs;
  AttrList outputs;
};

/// A choice between several shardings that a policy made. Callers that want to report conflicts
/// collect them; calls of operators do not.
struct Conflict {
  enum class Kind : uint8_t {
    kPlacedDifferently,  // two tensors split one factor over different mesh dims
    kSharedMeshDim,      // two factors are split over one mesh dim
    kGivenUp,  // dims that are never split were split over different mesh dims; none is kept
  };
  Kind kind;
  std::string text;  // "factor k is split over mesh dim 'dp' by one tensor and ..."
};
using Conflicts = std::vector<Conflict>;

}  // namespace phi::distributed
