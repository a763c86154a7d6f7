// Sharding a tensor over one more mesh dim, as ZeRO shards the optimizer states, gradients and
// parameters that data parallelism replicates (Rajbhandari et al. 2019).
#pragma once

#include <string_view>

#include "distributed/placement/dist_attr.h"

namespace phi::distributed {

/// Returns `attr` with Shard instead of Replicate on mesh dim `mesh_dim`. The new shard splits the
/// chosen tensor dim after the mesh dims that already split it. The tensor dim is chosen by these
/// criteria, in order: it splits evenly, no mesh dim splits it yet, its parts are largest, it is
/// first. Returns `attr` itself if the mesh has no such dim, if the tensor is not replicated over
/// it, and for a scalar.
const TensorDistAttr* shard_further(const TensorDistAttr* attr, const Dims& global,
                                    std::string_view mesh_dim);

}  // namespace phi::distributed
