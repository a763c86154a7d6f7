// Open MPI's settings of components, as the environment gives them.
#include "distributed/comm/mpi/transport.h"

#include <sys/statvfs.h>

#include <cstdint>
#include <cstdlib>

namespace phi::distributed {
namespace {

// What Open MPI lays out there for each rank, with some to spare.
constexpr uint64_t kSharedBytesOfARank = uint64_t{6} << 20;

bool shared_memory_has_room(int64_t ranks) {
  struct statvfs found {};
  if (statvfs("/dev/shm", &found) != 0) return false;
  return found.f_bavail * found.f_frsize >= static_cast<uint64_t>(ranks) * kSharedBytesOfARank;
}

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

}  // namespace

void keep_off_the_network(const Launch& launch) {
  if (!launch.is_on_one_machine() || is_set("OMPI_MCA_btl") || is_set("OMPI_MCA_pml")) return;
  if (!shared_memory_has_room(launch.here)) return;
  // Else a component for fast networks may be taken in the place of the one that looks at btl.
  setenv("OMPI_MCA_pml", "ob1", /*overwrite=*/1);
  setenv("OMPI_MCA_btl", "self,vader", /*overwrite=*/1);
}

}  // namespace phi::distributed
