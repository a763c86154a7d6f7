// Sets Open MPI's component variables in the environment.
#include "distributed/comm/mpi/network_choice.h"

#include <sys/statvfs.h>

#include <cstdint>
#include <cstdlib>

namespace phi::distributed {
namespace {

// An upper estimate of Open MPI's shared memory per rank.
constexpr uint64_t kSharedBytesOfARank = uint64_t{6} << 20;

bool shared_memory_has_room(int64_t ranks) {
  struct statvfs found {};
  if (statvfs("/dev/shm", &found) != 0) return false;
  return found.f_bavail * found.f_frsize >= static_cast<uint64_t>(ranks) * kSharedBytesOfARank;
}

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

}  // namespace

void keep_off_the_network(const LauncherEnvironment& launch) {
  if (!launch.is_on_one_machine() || is_set("OMPI_MCA_btl") || is_set("OMPI_MCA_pml")) return;
  if (!shared_memory_has_room(launch.here)) return;
  // Without this Open MPI may select a fast-network component instead of ob1, which ignores btl.
  setenv("OMPI_MCA_pml", "ob1", /*overwrite=*/1);
  setenv("OMPI_MCA_btl", "self,vader", /*overwrite=*/1);
}

}  // namespace phi::distributed
