// Detects a launcher and reads the variables of Open MPI and others.
#include "distributed/comm/mpi/launcher_environment.h"

#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <system_error>

namespace phi::distributed {
namespace {

std::optional<int64_t> number_of(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    const std::string_view all = text;
    int64_t number = -1;
    const auto [end, error] = std::from_chars(all.begin(), all.end(), number);
    if (error == std::errc() && end == all.end() && number >= 0) return number;
  }
  return std::nullopt;
}

// Server addresses contain ports, so they distinguish consecutive jobs.
std::string job_of_environment() {
  std::string job;
  for (const char* name : {"PMIX_NAMESPACE", "PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
                           "PMIX_SERVER_URI21", "PMIX_SERVER_URI2", "OMPI_MCA_orte_hnp_uri",
                           "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"}) {
    if (const char* text = std::getenv(name)) job += std::string(text) + ";";
  }
  return job;
}

}  // namespace

bool started_by_mpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

int ranks_on_machine(int64_t world_size) {
  const char* local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return local != nullptr ? std::atoi(local) : static_cast<int>(world_size);
}

std::optional<LauncherEnvironment> read_launcher_environment() {
  const auto rank = number_of({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"});
  const auto size = number_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"});
  const auto here = number_of({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"});
  std::string job = job_of_environment();
  if (!rank || !size || !here || job.empty() || *rank >= *size || *here < 1 || *here > *size) {
    return std::nullopt;
  }
  return LauncherEnvironment{*rank, *size, *here, std::move(job)};
}

}  // namespace phi::distributed
