// Which GPU a rank computes on.
#pragma once

#include "distributed/comm/world.h"
#include "phi/common/place.h"

namespace phi::distributed {

/// The GPU of the world's rank: the one whose number is the rank's among those of its machine,
/// counted round the visible_gpus(). So a rank to which its launcher shows one GPU takes that one.
/// Errors: Unavailable if no driver answers, if it is too old or shows no GPU, if the GPU runs no
/// code of this build, or if that has no CUDA.
Place own_gpu(const World& world);

/// Ranks may share a GPU if their messages go through the host; that is slow, and they share its
/// memory. Which ones do is printed on stderr, by rank 0 and once in a process. Collective.
/// `place`: this rank's GPU.
void tell_of_shared_gpus(World& world, const Place& place);

}  // namespace phi::distributed
