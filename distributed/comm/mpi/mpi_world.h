// The MPI backend: one process per rank, arrays in host memory. Where MPI is not found the twin
// no_mpi_world.cc is built instead.
#pragma once

#include <memory>

#include "distributed/comm/world.h"

namespace phi::distributed {

/// This process's place in the job that mpirun started; null if it was not started by mpirun. The
/// job is left when the world dies. `start_deadline`: as init_world says. Errors: Unavailable in a
/// build without MPI under mpirun.
std::unique_ptr<World> join_mpi_job(int* argc, char*** argv, World::Milliseconds start_deadline);

}  // namespace phi::distributed
