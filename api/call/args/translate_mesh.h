// The placements with which a tensor of another mesh arrives on an op's mesh.
#pragma once

#include "distributed/placement/dist_attr.h"

namespace phi {

/// Returns the distributed attribute on the op's mesh that a rule receives for a tensor of another
/// mesh: the one that is cheapest to reach. If both meshes have the same shape (pipeline stages),
/// placements are kept by position, otherwise by the names of mesh dims. Partial becomes
/// Replicate: partial values are reduced by the reshard.
const distributed::TensorDistAttr* translate_to_mesh(const distributed::TensorDistAttr& attr,
                                                     const distributed::ProcessMesh& mesh);

}  // namespace phi
