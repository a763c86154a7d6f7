// Setup: a job and its inputs, read and checked before ranks wait for each other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/simulation/prediction.h"
#include "api/training/progress.h"
#include "distributed/checkpoint/checkpoint.h"
#include "distributed/comm/world.h"
#include "distributed/config_check/config_check.h"
#include "tools/job/config/config.h"
#include "tools/job/dry_run.h"
#include "tools/job/fault_injection.h"
#include "tools/job/open_data.h"
#include "tools/job/output/job_trace.h"

namespace phi::job {

/// Shows progress in another way than by lines or a bar on standard output.
struct ProgressSink {
  training::Progress::Style style;
  training::Progress::Write write;
};

struct Setup {
  JobConfig config;
  std::unique_ptr<data::SampleData> data;  // null in mode generate
  std::vector<std::string> absent;         // files that a prediction does without, a line for each
  std::optional<distributed::checkpoint::Checkpoint> weights;
  std::string note;
  std::string layout_note;  // how the layout differs from the planned one; empty: it does not
  TracedSteps traced_steps;
  std::optional<DryRun> dry;
  std::optional<int64_t> device_limit;  // bytes of this rank, --device_limit
  Injections injections;
  std::optional<simulation::Prediction> predicted;  // with --machine, on rank 0
  std::optional<ProgressSink> progress;             // shown on rank 0, even if the job is quiet
  /// The fingerprint that all ranks agree on; empty in a dry run.
  distributed::ConfigEntries entries;
};

/// Reads a job file and settles its mesh for this world, or for that of the dry run.
/// Errors: UsageError, those of load_job, resolve_mesh, and of files that the job names.
Setup prepare(const std::string& job_file);
/// Settles the mesh of a parsed job. Errors: as prepare(job_file), except those of load_job.
Setup prepare(JobConfig config);

/// Prepares a dry run of rank 0 in a world of this size. Sets --world_size, --dry_run and --rank.
/// Missing data and weights are no error, because a prediction does not read them; `absent` names
/// them.
/// Does not set `predicted`.
Setup prepare_dry(JobConfig config, int64_t world_size);

/// Configuration consistency check. True if no rank has a fault and all have the same fingerprint;
/// otherwise one rank has printed why. `fault` is this rank's error, in which case it has no setup;
/// empty: none.
bool check_consistency(distributed::World& world, std::optional<Setup>* setup, std::string fault);

/// Connects the ranks' GPUs with the messages that the job selects. Collective; call it after
/// check_consistency().
/// Errors: those of use_gpu.
void connect_ranks(const JobConfig& config);

/// Applies flags to the world: deadline, checks, deferred transfer. Resets its counters.
void apply_world_flags(distributed::World& world);

}  // namespace phi::job
