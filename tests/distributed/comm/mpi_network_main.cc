// Rank 0 prints how many sockets the ranks of the job listen on, of TCP and all ranks together.
#include <fmt/core.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <system_error>

#include "distributed/comm/world.h"

namespace {

// Inodes of the sockets of this network that are in the state LISTEN.
std::set<std::string> listening_inodes() {
  std::set<std::string> inodes;
  for (const char* name : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream table(name);
    table.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    std::string slot, local, remote, state, queues, timer, retransmit, user, timeout, inode;
    while (table >> slot >> local >> remote >> state >> queues >> timer >> retransmit >> user >>
           timeout >> inode) {
      if (state == "0A") inodes.insert("socket:[" + inode + "]");
      table.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
  }
  return inodes;
}

int64_t own_listening_sockets() {
  const std::set<std::string> listening = listening_inodes();
  int64_t own = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    own += static_cast<int64_t>(listening.count(read_symlink(entry.path(), gone).string()));
  }
  return own;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace phi::distributed;
  World& world = init_world(&argc, &argv);
  int64_t sockets = own_listening_sockets();
  world.everyone().all_reduce(&sockets, 1, phi::DataType::INT64, ReduceKind::kSum);
  if (world.rank() == 0) fmt::print("{} ranks listen on {} sockets\n", world.size(), sockets);
  finalize_world();
}
