// Setup: a job and all that it needs, read and checked before any rank waits for another.
#pragma once

#include <optional>
#include <string>

#include "api/training/progress.h"
#include "distributed/agreement/agreement.h"
#include "distributed/checkpoint/checkpoint.h"
#include "distributed/comm/world.h"
#include "tools/job/config/config.h"
#include "tools/job/dry_run.h"
#include "tools/job/injection.h"
#include "tools/job/open_data.h"
#include "tools/job/output/job_trace.h"

namespace phi::job {

/// Where progress is shown, and how, instead of by lines or a bar on standard output.
struct ShownProgress {
  training::Progress::Style style;
  training::Progress::Write write;
};

struct Setup {
  JobConfig config;
  std::optional<data::TokenData> data;  // none in mode generate
  std::optional<distributed::checkpoint::Checkpoint> weights;
  std::string note;
  TracedSteps traced_steps;
  std::optional<DryRun> dry;
  Injections injections;
  std::optional<ShownProgress> progress;  // by rank 0, also of a quiet job
  distributed::Facts facts;  // the fingerprint that all ranks have agreed on; none in a dry run
};

/// Of a job file whose mesh is of this world, or of the one that is played. Errors: UsageError,
/// those of load_job, settle_mesh, and of files that the job names.
Setup prepare(const std::string& job_file);
/// The same of a job that was read.
Setup prepare(JobConfig config);

/// True if all ranks may go on: none has a fault, and all have the same fingerprint of their setup.
/// Else one of them has said why. `fault`: what this rank found wrong, and so has no setup; empty:
/// nothing.
bool agree(distributed::World& world, std::optional<Setup>* setup, std::string fault);

/// The ranks' GPUs as the job wants their messages carried: a call of all ranks, once they have
/// agreed. Errors: those of use_gpu.
void connect_ranks(const JobConfig& config);

/// The world that a job runs in, as flags say: deadline, checks, how data crosses to the device.
/// Its counters begin with the job.
void settle_world_flags(distributed::World& world);

}  // namespace phi::job
