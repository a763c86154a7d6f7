// The flags of dry runs.
#include "tools/job/dry_run.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include "distributed/comm/world.h"
#include "tools/cli/command_line.h"

DEFINE_bool(dry_run, false, "simulate one rank of the job's first step, without tensor data");
DEFINE_int64(world_size, 0, "with --dry_run: number of ranks of the simulated job");

namespace phi::job {

std::optional<DryRun> dry_run_of_flags() {
  if (!FLAGS_dry_run) return std::nullopt;
  const int64_t processes = distributed::World::current().size();
  if (processes > 1) {
    throw cli::UsageError(fmt::format(
        "--dry_run is one process and needs no mpirun, but {} are started.", processes));
  }
  if (FLAGS_world_size < 1) {
    throw cli::UsageError("--dry_run simulates a rank of a job: pass --world_size=N, 1 or more.");
  }
  if (FLAGS_rank < 0 || FLAGS_rank >= FLAGS_world_size) {
    throw cli::UsageError(
        fmt::format("--dry_run simulates one rank: pass --rank=R, 0 to {}; got {}.",
                    FLAGS_world_size - 1, FLAGS_rank));
  }
  return DryRun{FLAGS_world_size, FLAGS_rank};
}

void adjust_for_dry_run(const DryRun& dry, const std::string& mesh_flag, JobConfig* config) {
  if (config->mode == "generate") {
    throw cli::UsageError(
        "--dry_run simulates a step of mode forward or train; mode generate has none.");
  }
  const MeshConfig mesh = mesh_flag.empty() ? config->mesh : parse_mesh_flag(mesh_flag);
  if (!mesh.shape.empty() && mesh.num_ranks() != dry.world_size) {
    throw cli::UsageError(fmt::format("--world_size={}: the mesh {} has {} ranks; change one.",
                                      dry.world_size, mesh.to_string(), mesh.num_ranks()));
  }
  config->run.steps = 1;
  config->run.save.clear();
  config->checkpoint.dir.clear();
}

}  // namespace phi::job
