// Two ranks exchange 1 MiB; rank 0 prints how such a message goes: what Open MPI's setting is,
// whether messages are copied once, and in how many messages this one was handed to MPI: its
// header and its pieces.
#include <fmt/core.h>
#include <mpi.h>

#include <cstdlib>
#include <vector>

#include "distributed/comm/mpi/single_copy.h"
#include "distributed/comm/world.h"

namespace {
int sends = 0;
}

// In the place of MPI's own, as tools that watch a program do.
extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  ++sends;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int main(int argc, char** argv) {
  using namespace phi::distributed;
  World& world = init_world(&argc, &argv);
  constexpr size_t kBytes = 1 << 20;
  const int64_t peer = 1 - world.rank();
  const std::vector<std::byte> out(kBytes, std::byte{7});
  std::vector<std::byte> in(kBytes);
  const Send send{peer, out.data(), kBytes};
  const Recv recv{peer, in.data(), kBytes};
  sends = 0;
  world.everyone().exchange({&send, 1}, {&recv, 1});
  if (in != out) abort_job("another message came than was sent");
  if (world.rank() == 0) {
    const char* setting = std::getenv("OMPI_MCA_btl_vader_single_copy_mechanism");
    fmt::print("set to {}, copied {}, in {} pieces\n", setting ? setting : "nothing",
               messages_are_copied_once() ? "once" : "twice", sends);
  }
  finalize_world();
}
