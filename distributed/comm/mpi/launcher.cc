// Recognising mpirun; in builds with and without MPI.
#include <cstdlib>

#include "distributed/comm/mpi/mpi_world.h"

namespace phi::distributed {

bool started_by_mpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

int ranks_on_machine(int64_t world_size) {
  const char* local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return local != nullptr ? std::atoi(local) : static_cast<int>(world_size);
}

}  // namespace phi::distributed
