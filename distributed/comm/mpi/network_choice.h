// Selects the transport of Open MPI's messages for jobs on one machine.
#pragma once

#include "distributed/comm/mpi/launcher_environment.h"

namespace phi::distributed {

/// Call it before MPI_Init. Restricts a job on one machine to shared memory, so that its ranks do
/// not listen on the network. Does nothing if the user has chosen a transport (OMPI_MCA_btl,
/// OMPI_MCA_pml, mpirun's --mca), or if /dev/shm has too little room.
void keep_off_the_network(const LauncherEnvironment& launch);

}  // namespace phi::distributed
