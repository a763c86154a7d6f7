// What the launcher (mpirun, srun) tells a process of its job by environment variables, before MPI
// is begun; in builds with and without MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace phi::distributed {

/// A launcher's variables are in the environment.
bool started_by_mpirun();

/// How many ranks of the job share this machine, as the launcher says; all of them if it does not.
int ranks_on_machine(int64_t world_size);

struct Launch {
  int64_t rank = 0;
  int64_t size = 1;
  int64_t here = 1;  // ranks on this machine
  std::string job;   // the same on all ranks of a machine, and no other job's at the same time

  bool is_on_one_machine() const { return here == size; }
};
/// Nothing if the launcher does not say all of it.
std::optional<Launch> launch_of_environment();

}  // namespace phi::distributed
