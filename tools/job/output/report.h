// The report of a job: each rank's counters and the job's results, as JSON and as a table.
//
//   const auto ranks = gather_ranks(World::current(), this_rank(stage));
//   write_report(report, "out.json");
//   std::cout << table(report);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/data/data_summary.h"
#include "api/simulation/prediction.h"
#include "api/training/checkpoint/checkpointer_stats.h"
#include "distributed/comm/world.h"
#include "phi/common/readable_numbers.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/memory_ledger.h"
#include "tools/job/output/parameter_placements.h"

namespace phi::job {

/// For a rank whose steps run under memory limits.
struct SwapReport {
  int64_t device_limit_bytes = 0;  // 0: no limits
  int64_t host_limit_bytes = 0;
  int64_t host_peak_bytes = 0;  // of swapped values
  int64_t disk_peak_bytes = 0;
  double transfer_seconds = 0;  // while something was transferred between tiers
  double wait_seconds = 0;      // while steps waited for transfers
};

/// Counters of one rank. All fields are 8 bytes, so that a rank's report is sent as one array.
struct RankReport {
  int64_t rank = 0;
  int64_t stage = 0;
  int64_t ops_launched = 0;
  int64_t ops_clipped = 0;
  int64_t reshard_steps = 0;
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
  int64_t peak_tensor_bytes = 0;
  int64_t reserved_bytes = 0;        // most bytes that its CPU cache, and a program, had
  int64_t process_bytes = 0;         // most bytes that its process had in memory
  int64_t parameter_bytes = 0;       // of this rank's shards
  int64_t optimizer_bytes = 0;       // of its optimizer states
  int64_t gradient_bytes = 0;        // of its gradients before the last update
  int64_t parameter_peak_bytes = 0;  // most tensor bytes held while the parameters were made
  int64_t planned_peak_bytes = 0;    // dry runs: most tensor bytes that a real run would hold
  std::array<Traffic, kNumCollectives> traffic{};  // indexed by distributed::CommOp
  TransferStats transfers;                         // between tiers
  int64_t program_steps = 0;                       // of a captured job; 0: it was not captured
  int64_t program_arena_bytes = 0;                 // shared by its tensors
  SwapReport swapping;
  int64_t checkpoint_bytes_read = 0;  // of a resumed job
};

/// The prediction of the plan that chose the job's layout.
struct PlannedStep {
  std::string machine;
  double seconds = 0;
  int64_t peak_bytes = 0;  // of tensors of the fullest rank
};

struct JobReport {
  std::string job;   // the job file
  std::string mode;  // "forward"
  std::string mesh;  // "dp=2,pp=2,tp=2"
  std::string dtype;
  int64_t num_parameters = 0;
  data::DataSummary data;  // reports with other data are not comparable
  uint64_t data_fingerprint = 0;
  std::vector<double> losses;  // per step, from first_step on
  int64_t first_step = 1;      // larger if the job was resumed
  std::string resumed_from;    // path of the checkpoint
  training::CheckpointerStats checkpoints;
  int64_t steps_left_out = 0;  // gradients were not finite
  int stopped_by = 0;          // signal that ended the job early
  std::vector<double> step_seconds;
  std::string text;  // mode generate: the generated text, one byte per step
  double tokens_per_s = 0;
  double seconds = 0;    // of all steps
  bool dry_run = false;  // nothing was computed: no losses, one rank
  int64_t world_size = 0;
  std::vector<RankReport> ranks;
  std::vector<MemoryHolders> held_at_peak;          // of each rank; empty: not known
  std::optional<simulation::Prediction> predicted;  // with --machine
  std::optional<PlannedStep> planned;               // with the key `plan`
  std::vector<ParameterPlacement> placements;
};

/// The calling rank's counters so far.
RankReport this_rank(int64_t stage);

/// Every rank's report, in order, on every rank. Collective over the world; its own messages are
/// not counted.
std::vector<RankReport> gather_ranks(distributed::World& world, const RankReport& own);

/// What every rank holds at its peak. Collective over the job; in a dry run, this rank's alone.
std::vector<MemoryHolders> gather_holders(const MemoryHolders& own);

/// The report as one JSON object, ending with a newline.
std::string to_json(const JobReport& report);

/// Writes to_json(report). The file is replaced as a whole or not at all. Errors: Unavailable.
void write_report(const JobReport& report, const std::string& path);

/// One line per rank under a heading, columns aligned.
std::string table(const JobReport& report);

}  // namespace phi::job
