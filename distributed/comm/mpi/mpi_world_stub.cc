// The stub of mpi_world.cc in a build without MPI.
#include "distributed/comm/mpi/launcher_environment.h"
#include "distributed/comm/mpi/mpi_world.h"
#include "phi/common/errors.h"

namespace phi::distributed {

std::unique_ptr<World> join_mpi_job(int* /*argc*/, char*** /*argv*/,
                                    World::Milliseconds /*start_deadline*/) {
  PHI_CHECK(!started_by_mpirun(),
            errors::Unavailable("this build has no MPI; install libopenmpi-dev, configure again "
                                "and build, or start the program without mpirun."));
  return nullptr;
}

}  // namespace phi::distributed
