// Splitting a tensor over one more mesh dim: what ZeRO does to optimizer states, gradients and
// parameters that data parallelism replicates (Rajbhandari et al. 2019).
#pragma once

#include <string_view>

#include "distributed/placement/dist_attr.h"

namespace phi::distributed {

/// `attr` with Shard on mesh dim `mesh_dim` instead of Replicate, behind what splits the chosen
/// tensor dim already. Chosen is a tensor dim that splits evenly, one that no mesh dim splits yet
/// before others, then the one with the largest parts, then the first. Where no tensor dim splits
/// evenly the largest parts decide. `attr` itself where the mesh has no such dim, where the tensor
/// is not replicated over it, and for a scalar.
const TensorDistAttr* shard_further(const TensorDistAttr* attr, const Dims& global,
                                    std::string_view mesh_dim);

}  // namespace phi::distributed
