// The stub of mpi_transport.cc in a build without MPI.
#include "distributed/comm/mpi/mpi_transport.h"
#include "phi/common/errors.h"

namespace phi::distributed {

std::unique_ptr<World> join_mpi_job(int* /*argc*/, char*** /*argv*/,
                                    World::Milliseconds /*start_deadline*/) {
  throw errors::Unavailable(
      "this build has no MPI; install libopenmpi-dev, configure again and build, or start the "
      "program without mpirun.");
}

}  // namespace phi::distributed
