// One test body, two ways to run it: on threads of this process (link test_local_ranks), or on the
// processes of an mpirun job (autophi_mpi_test).
#pragma once

#include <functional>
#include <vector>

#include "distributed/comm/world.h"

namespace phi::distributed::testing {

/// The world sizes that tests can have here: 1 to 4 threads, or the size of the job.
std::vector<int64_t> world_sizes();

/// Runs `body` on every rank of a world of `n` ranks, n out of world_sizes().
void on_ranks(int64_t n, const std::function<void(World& world)>& body);

/// In worlds of every size.
inline void on_all_world_sizes(const std::function<void(World& world)>& body) {
  for (int64_t n : world_sizes()) on_ranks(n, body);
}

/// The same for the communicator of arrays at the rank's place.
inline void on_all_communicators(const std::function<void(Communicator& communicator)>& body) {
  on_all_world_sizes([&](World& world) { body(world.communicator(world.rank_context().place())); });
}

}  // namespace phi::distributed::testing
