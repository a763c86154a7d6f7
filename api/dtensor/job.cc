// Joins and leaves a job, and divides a machine's cores among its ranks.
#include "api/dtensor/job.h"

#include "distributed/comm/mpi/launcher_environment.h"
#include "distributed/comm/world.h"
#include "phi/kernels/threads.h"

namespace phi::distributed {

void init(int* argc, char*** argv, std::chrono::milliseconds start_deadline) {
  const World& world = init_world(argc, argv, start_deadline);
  share_cores(ranks_on_machine(world.size()));
}
void finalize() { finalize_world(); }
int64_t rank() { return World::current().rank(); }
int64_t world_size() { return World::current().size(); }

}  // namespace phi::distributed
