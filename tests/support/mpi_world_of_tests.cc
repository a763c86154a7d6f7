// Tests are of the job's own world.
#include "support/mpi_ranks.h"

namespace phi::distributed::testing {

World& world_of_tests(World& job) { return job; }

}  // namespace phi::distributed::testing
