// What programs of mpirun's tests differ in.
#pragma once

#include "distributed/comm/world.h"

namespace phi::distributed::testing {

/// Prepares the job's world for tests of arrays in host memory (mpi_world_of_tests.cc) or on GPUs
/// (nccl_world_of_tests.cc). A call of all ranks.
void prepare_for_tests(World& job);

}  // namespace phi::distributed::testing
