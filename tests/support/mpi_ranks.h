// What programs of mpirun's tests differ in.
#pragma once

#include "distributed/comm/world.h"

namespace phi::distributed::testing {

/// The world that tests' bodies get, of the job's: itself (mpi_world_of_tests.cc), or that of its
/// GPUs (nccl_world_of_tests.cc). A call of all ranks.
World& world_of_tests(World& job);

}  // namespace phi::distributed::testing
