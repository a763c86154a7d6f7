// Transport: over what Open MPI carries messages, where that is not left to itself.
#pragma once

#include "distributed/comm/mpi/launcher.h"

namespace phi::distributed {

/// Before MPI_Init: a job that lies on one machine uses shared memory and nothing else, so that
/// none of its ranks listens on the network, unless the user has set what it uses (OMPI_MCA_btl,
/// OMPI_MCA_pml, mpirun's --mca) or /dev/shm has no room for it.
void keep_off_the_network(const Launch& launch);

}  // namespace phi::distributed
