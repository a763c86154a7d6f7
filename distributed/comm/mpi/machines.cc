// Exchanges host names, kernel boot ids and rank table tokens between all ranks.
#include "distributed/comm/mpi/machines.h"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

struct Machine {
  char name[MPI_MAX_PROCESSOR_NAME];
  uint64_t boot;   // id of the running kernel's boot; 0: unknown
  uint64_t token;  // the rank table's token

  bool is_same_as(const Machine& other) const { return token != 0 && token == other.token; }
  /// Whether the two are different machines, or containers that share no memory.
  bool is_apart_from(const Machine& other) const {
    const bool other_kernel = boot != 0 && other.boot != 0 && boot != other.boot;
    const bool other_memory = token != 0 && other.token != 0 && token != other.token;
    return other_kernel || other_memory;
  }
};

Machine own_machine(uint64_t token) {
  Machine machine{};
  int length = 0;
  MPI_Get_processor_name(machine.name, &length);
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  if (std::getline(file, boot)) machine.boot = std::hash<std::string>()(boot);
  machine.token = token;
  return machine;
}

}  // namespace

std::vector<bool> ranks_of_this_machine(int64_t rank, int64_t size, uint64_t rank_table_token) {
  const Machine own = own_machine(rank_table_token);
  std::vector<Machine> all(static_cast<size_t>(size));
  MPI_Allgather(&own, sizeof(Machine), MPI_BYTE, all.data(), sizeof(Machine), MPI_BYTE,
                MPI_COMM_WORLD);
  std::unordered_map<std::string_view, size_t> first;  // the first rank with each name
  for (size_t other = 0; other < all.size(); ++other) {
    const size_t before = first.try_emplace(all[other].name, other).first->second;
    PHI_CHECK(!all[before].is_apart_from(all[other]),
              errors::Unavailable(
                  "the machines of ranks {} and {} are both called '{}' and share no memory; Open "
                  "MPI assumes that ranks of one host name share memory. Use distinct host names "
                  "for the machines, or one shared /dev/shm for the containers of a machine.",
                  before, other, all[other].name));
  }
  std::vector<bool> shares(all.size());
  for (size_t other = 0; other < all.size(); ++other) shares[other] = own.is_same_as(all[other]);
  shares[static_cast<size_t>(rank)] = true;
  return shares;
}

}  // namespace phi::distributed
