// Dry runs: one process plays one rank of a job of any size, without a byte of a tensor.
//
//   | autophi run JOB.yaml --dry_run --world_size=16384 --rank=77 --report=r77.json
#pragma once

#include <gflags/gflags_declare.h>

#include <cstdint>
#include <optional>

#include "distributed/comm/dry/dry_world.h"
#include "tools/job/config/config.h"

DECLARE_bool(dry_run);

namespace phi::job {

/// Who is played.
struct DryRun {
  int64_t world_size = 1;
  int64_t rank = 0;
};

/// What the flags --dry_run, --world_size and --rank say; nothing without --dry_run.
/// Errors: UsageError where they do not go together, or the process was started with others.
std::optional<DryRun> dry_run_of_flags();

/// Makes a job one that can be played: one step, nothing saved.
/// Errors: UsageError for mode generate, or a mesh that has not world_size ranks.
void settle_dry_run(const DryRun& dry, const std::string& mesh_flag, JobConfig* config);

/// The calling thread is the rank while this lives.
class PlayedRank {
 public:
  explicit PlayedRank(const DryRun& dry) : world_(dry.rank, dry.world_size), scope_(world_) {}

 private:
  distributed::DryWorld world_;
  distributed::World::Scope scope_;
};

}  // namespace phi::job
