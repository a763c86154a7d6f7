// Selects the GPU on which a rank computes.
#pragma once

#include "distributed/comm/world.h"
#include "phi/common/place.h"

namespace phi::distributed {

/// Returns the GPU of the world's rank: the rank's number on its machine, modulo visible_gpus(). A
/// rank to which the launcher exposes one GPU uses that one. Errors: Unavailable if there is no
/// driver, if it is too old or exposes no GPU, if the GPU cannot run the code of this build, or if
/// the build has no CUDA.
Place gpu_of_rank(const World& world);

/// Warns if ranks share a GPU. This is allowed if messages go through the host, but it is slow, and
/// the ranks share the GPU's memory. Rank 0 prints the ranks on stderr, once per process.
/// Collective over the world. `place`: this rank's GPU.
void warn_of_shared_gpus(World& world, const Place& place);

}  // namespace phi::distributed
