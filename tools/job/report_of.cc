// Sets flags for one call, runs the job, and restores flags and world.
#include "tools/job/report_of.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"
#include "phi/core/rank_context.h"
#include "tools/cli/command_line.h"
#include "tools/job/dry_run.h"
#include "tools/job/job.h"
#include "tools/job/output/standard_output.h"
#include "tools/job/run_flags.h"
#include "tools/job/setup.h"

namespace phi::job {

using distributed::World;

namespace {

using Flags = std::map<std::string, std::string>;

void set_flags(const Flags& flags) {
  for (const auto& [name, value] : flags) {
    const auto& known = run_flags();
    PHI_CHECK(
        std::find(known.begin(), known.end(), name) != known.end(),
        errors::InvalidArgument("a job has no option '{}'{}.", name, did_you_mean(name, known)));
    PHI_CHECK(!gflags::SetCommandLineOption(name.c_str(), value.c_str()).empty(),
              errors::InvalidArgument("option '{}' of a job cannot be '{}'.", name, value));
  }
}

// Restores the world's settings after a job; the job's counters start at 0.
class WorldRestorer {
 public:
  explicit WorldRestorer(World& world)
      : world_(world),
        deadline_(world.deadline()),
        strict_(world.strict_collectives()),
        deferred_(world.rank_context().deferred_transfer()),
        keeps_deferred_(world.rank_context().keeps_deferred()),
        place_(world.rank_context().place()),
        tf32_(world.rank_context().tf32()),
        device_communicator_(world.set_device_communicator(nullptr)),
        device_limit_(world.rank_context().memory()->device_limit()),
        counters_(world.rank_context().counters()),
        transfers_(std::exchange(world.rank_context().transfers(), {})) {
    reset_memory_peak(CPUPlace());
  }
  ~WorldRestorer() {
    world_.set_deadline(deadline_);
    world_.set_strict_collectives(strict_);
    world_.rank_context().set_deferred_transfer(deferred_);
    world_.rank_context().set_keeps_deferred(keeps_deferred_);
    world_.rank_context().set_place(place_);
    world_.rank_context().set_tf32(tf32_);
    world_.set_device_communicator(std::move(device_communicator_));
    world_.rank_context().memory()->set_device_limit(device_limit_);
    world_.rank_context().counters() = counters_;
    world_.rank_context().transfers() = transfers_;
  }
  WorldRestorer(const WorldRestorer&) = delete;
  WorldRestorer& operator=(const WorldRestorer&) = delete;

 private:
  World& world_;
  const World::Milliseconds deadline_;
  const bool strict_;
  const bool deferred_;
  const bool keeps_deferred_;
  const Place place_;
  const bool tf32_;
  std::unique_ptr<distributed::Communicator> device_communicator_;
  const int64_t device_limit_;
  const Counters counters_;
  const TransferStats transfers_;
};

// All ranks decide together, so that none waits for one that has returned.
Setup agreed_setup(World& world, const std::string& text, const std::string& name) {
  std::optional<Setup> setup;
  std::optional<std::string> fault;
  try {
    setup = prepare(parse_job(text, name));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fault = error.what();
    if (world.size() == 1) throw;
  }
  if (!check_consistency(world, &setup, fault.value_or(""))) {
    throw errors::InvalidArgument(
        "{}", fault.value_or("a rank found the job invalid; its standard error has the reason."));
  }
  return std::move(*setup);
}

std::string run_here(const std::string& text, const std::string& name,
                     const std::optional<ProgressSink>& progress) {
  const StandardOutput standard_output;
  World& outer = World::current();
  const WorldRestorer as_it_was(outer);
  Setup setup = agreed_setup(outer, text, name);
  setup.progress = progress;
  reset_memory_peak(Tier::kDevice);
  std::optional<DryRank> played;
  if (setup.dry) played.emplace(*setup.dry);
  apply_world_flags(World::current());
  Job job(std::move(setup));
  const JobReport report = job.run();
  std::string faults;
  for (const std::string& each : job.output_faults()) faults += each + "\n";
  if (!FLAGS_report.empty() && (played || outer.rank() == 0)) write_report(report, FLAGS_report);
  PHI_CHECK(faults.empty(), errors::Unavailable("{}", faults));
  return to_json(report);
}

}  // namespace

std::string report_of(const std::string& text, const std::string& name, const Flags& flags,
                      const std::optional<ProgressSink>& progress) {
  const World& world = World::current();
  const bool is_played = world.backend() == "dry";
  PHI_CHECK(!is_played && (world.backend() != "local" || world.size() == 1),
            errors::PreconditionNotMet(
                "a job needs a process without other ranks: it cannot run on ranks of "
                "run_ranks or in a dry_run. Run it under mpirun, or in a process of one rank; "
                "simulate a rank of it with dry_run=True."));
  const gflags::FlagSaver as_they_were;
  try {
    set_flags(flags);
    return run_here(text, name, progress);
  } catch (const cli::UsageError& error) {
    throw errors::InvalidArgument("{}", error.what());
  }
}

}  // namespace phi::job
