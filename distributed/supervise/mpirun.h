// The mpirun command line of a supervised job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace phi::distributed::supervise {

struct MpirunOptions {
  std::string program = "mpirun";
  std::vector<std::string> words{};  // further arguments of mpirun
  std::string hosts{};               // host_list(); empty: this machine, or what mpirun detects
};

/// `words` are further arguments, split at blanks.
MpirunOptions mpirun_options(const std::string& program, const std::string& words);

/// Returns the command line. Adds the flags that mpirun requires for root, and for more ranks than
/// this machine has cores if no hosts are named.
std::vector<std::string> mpirun_command(const MpirunOptions& options, int64_t ranks,
                                        const std::vector<std::string>& program);

/// A variable in the environment of Open MPI's ranks, and of no other process of a job.
inline constexpr const char* kOpenMpiRank = "OMPI_COMM_WORLD_RANK";

}  // namespace phi::distributed::supervise
