// The command line of mpirun for a job that is supervised.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace phi::distributed::supervise {

struct MpirunOptions {
  std::string program = "mpirun";
  std::vector<std::string> words{};  // more of its own
  std::string hosts{};               // host_list(); empty: this machine, or what mpirun finds
};

/// As root, and with more ranks than this machine has cores where no hosts are named, it has the
/// flags that mpirun wants then.
std::vector<std::string> mpirun_command(const MpirunOptions& options, int64_t ranks,
                                        const std::vector<std::string>& program);

/// Ranks of Open MPI have it in their environment, and nothing else of a job has.
inline constexpr const char* kOpenMpiRank = "OMPI_COMM_WORLD_RANK";

}  // namespace phi::distributed::supervise
