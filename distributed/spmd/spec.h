// What a rule is asked and what it answers.
//
//   TensorSpec x{Dims{64, 32}, TensorDistAttr::get(mesh, {Shard(0)})};
//   SpmdResult r = MatmulInferSpmd(x, y, false, false).forward();   // r.inputs[0], r.outputs[0]
#pragma once

#include "distributed/placement/dist_attr.h"
#include "phi/common/dims.h"
#include "phi/common/inline_vector.h"

namespace phi::distributed {

/// A tensor as a rule sees it: global shape and how it lies on the mesh. All tensors of one call
/// are on one mesh.
struct TensorSpec {
  Dims shape;
  const TensorDistAttr* attr = nullptr;  // null: an optional tensor that is not given

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

/// What a rule does with a question that has no single best answer, such as one tensor dim placed
/// differently by two tensors.
enum class Strictness : uint8_t {
  kResolve,  // a stated policy picks; what an op does when it runs
  kRefuse,   // an error, for callers that want to hear of it (checked annotations)
};

}  // namespace phi::distributed
