// Environment variables of the launcher (mpirun, srun) that describe the job before MPI is
// initialised. In builds with and without MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace phi::distributed {

/// Whether the environment has a launcher's variables.
bool started_by_mpirun();

/// The number of ranks on this machine, if the launcher sets it; otherwise `world_size`.
int ranks_on_machine(int64_t world_size);

struct LauncherEnvironment {
  int64_t rank = 0;
  int64_t size = 1;
  int64_t here = 1;  // ranks on this machine
  std::string job;   // equal on all ranks of a machine, unique among jobs that run at the same time

  bool is_on_one_machine() const { return here == size; }
};
/// nullopt unless the launcher sets all of it.
std::optional<LauncherEnvironment> read_launcher_environment();

}  // namespace phi::distributed
