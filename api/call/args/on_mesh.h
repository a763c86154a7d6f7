// How a tensor of another mesh arrives on an op's.
#pragma once

#include "distributed/placement/dist_attr.h"

namespace phi {

/// How a rule is shown a tensor of another mesh: with the placements that it will most cheaply have
/// on the op's. Meshes of the same shape (pipeline stages) keep placements position by position,
/// others by the names of their mesh dims; partial values are reduced on the way.
const distributed::TensorDistAttr* translated(const distributed::TensorDistAttr& attr,
                                              const distributed::ProcessMesh& mesh);

}  // namespace phi
