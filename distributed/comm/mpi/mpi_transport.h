// The MPI backend: one process per rank, arrays in host memory. Without MPI, the stub
// mpi_transport_stub.cc is built instead.
#pragma once

#include <memory>

#include "distributed/comm/world.h"

namespace phi::distributed {

/// Joins the job that mpirun started; null if mpirun did not start this process. The job is left
/// when the world is destroyed. `start_deadline` is that of init_world. Errors: Unavailable under
/// mpirun, in a build without MPI.
std::unique_ptr<World> join_mpi_job(int* argc, char*** argv, World::Milliseconds start_deadline);

}  // namespace phi::distributed
