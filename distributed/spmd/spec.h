// What a rule is asked and what it answers.
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

/// A tensor as a rule sees it: global shape and how it lies on the mesh. All tensors of one call
/// are on one mesh.
struct TensorSpec {
  Dims shape;
  const TensorDistAttr* attr = nullptr;  // null: an optional tensor that is not given
  const char* name = nullptr;            // of the argument, for messages; null: not known

  bool absent() const { return attr == nullptr; }
  int ndim() const { return shape.ndim(); }
};

using AttrList = InlineVector<const TensorDistAttr*, 8>;

/// In signature order, the elements of list arguments one after the other, null for an absent
/// tensor: how each input has to be placed and how each output then is.
struct SpmdResult {
  AttrList inputs;
  AttrList outputs;
};

/// A question that has no single best answer, which a stated policy then picked: for callers that
/// want to hear of it. Ops that run do not.
struct Conflict {
  enum class Kind : uint8_t {
    kPlacedDifferently,  // two tensors split one factor over different mesh dims
    kSharedMeshDim,      // two factors are split over one mesh dim
    kGivenUp,  // dims that are never split were, over different mesh dims: nothing to pick
  };
  Kind kind;
  std::string text;  // "factor k is split over mesh dim 'dp' by one tensor and ..."
};
using Conflicts = std::vector<Conflict>;

}  // namespace phi::distributed
