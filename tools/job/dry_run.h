// Dry runs: one process runs any rank of a job of any size without allocating tensors.
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

/// The rank that is run.
struct DryRun {
  int64_t world_size = 1;
  int64_t rank = 0;
};

/// Reads the flags --dry_run, --world_size and --rank; nothing without --dry_run.
/// Errors: UsageError if they contradict each other, or if there are other processes.
std::optional<DryRun> dry_run_of_flags();

/// Adjusts a job for a dry run: one step, nothing saved.
/// Errors: UsageError for mode generate, or for a mesh without exactly world_size ranks.
void adjust_for_dry_run(const DryRun& dry, const std::string& mesh_flag, JobConfig* config);

/// Makes the calling thread this rank for its lifetime.
class DryRank {
 public:
  explicit DryRank(const DryRun& dry) : world_(dry.rank, dry.world_size), scope_(world_) {}

 private:
  distributed::DryWorld world_;
  distributed::World::Scope scope_;
};

}  // namespace phi::job
