// The run subcommand: agrees on a job with all ranks, runs its steps, and writes its report.
#include "tools/job/run_command.h"

#include <fmt/format.h>

#include <csignal>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "distributed/api.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/common/memory_advice.h"
#include "phi/core/rank_context.h"
#include "tools/cli/command_line.h"
#include "tools/job/dry_run.h"
#include "tools/job/job.h"
#include "tools/job/output/standard_output.h"
#include "tools/job/run_flags.h"
#include "tools/job/setup.h"

namespace phi::job {
namespace {

constexpr int kSignalStatus = 128;  // plus the number of the signal, as in shells

using distributed::World;

std::string job_file_of(int argc, char** argv) {
  const std::vector<std::string> words =
      cli::parse_flags(argc, argv, run_flags(), run_flags_alone());
  if (words.size() != 1) {
    throw cli::UsageError(fmt::format("autophi run expects one job file, got {}{}; see --help.",
                                      words.size(), words.empty() ? "" : " (" + words[1] + ")"));
  }
  return words[0];
}

// The message of an exception; explains std::bad_alloc.
std::string words_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) return error.what();
  return fmt::format(
      "the system has no more memory for this process; tensors of this rank use {} bytes. {}",
      memory_stats(Tier::kDevice).current, kMoreMemoryAdvice);
}

// The job's position, and how to continue. Memory or disk may be exhausted here.
std::string situation_of(Job& job) {
  std::string situation = "\n  " + job.position_text() + job.save_trace_after_error();
  try {
    situation += job.resume_hint();
  } catch (const std::exception&) {  // report the original error without it
  }
  return situation;
}

// Whether the error means that memory or another system resource is exhausted.
bool is_want(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  if (known) return known->code() == ErrorCode::kResourceExhausted;
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
}

// Prints the table and writes the report. Adds outputs that cannot be written to `faults`.
void put_out(const JobReport& report, std::vector<std::string>* faults) {
  if (!FLAGS_quiet) std::cout << table(report) << std::flush;
  if (FLAGS_report.empty()) return;
  try {
    write_report(report, FLAGS_report);
  } catch (const Error& error) {
    faults->push_back(error.what());
  }
}

}  // namespace

RunCommandLine parse_run_command_line(int argc, char** argv) {
  // SIGUSR1 requests a save. Before the first and after the last save it must not end the process,
  // which is its default action.
  std::signal(SIGUSR1, SIG_IGN);
  RunCommandLine line;
  try {
    line.file = job_file_of(argc, argv);
    line.start_deadline = start_deadline();
  } catch (const std::exception& error) {
    line.fault = error.what();
  }
  return line;
}

int run_command(const RunCommandLine& line) {
  ignore_sigpipe();
  const StandardOutput standard_output;
  std::string fault = line.fault;
  std::optional<DryRank> played;
  std::optional<Job> job;
  try {
    std::optional<Setup> setup;
    try {
      if (fault.empty()) setup = prepare(line.file);
    } catch (const std::exception& error) {
      if (is_want(error)) throw;  // the job may be valid
      fault = error.what();
    }
    if (!check_consistency(World::current(), &setup, fault)) return cli::kUsageStatus;
    if (setup->config.checkpoint.dir.empty()) std::signal(SIGUSR1, SIG_DFL);
    if (setup->dry) played.emplace(*setup->dry);
    World& world = World::current();
    apply_world_flags(world);
    job.emplace(std::move(*setup));
    const JobReport report = job->run();
    std::vector<std::string> faults = job->output_faults();
    if (played || world.rank() == 0) put_out(report, &faults);
    if (!standard_output.fault().empty()) faults.push_back(standard_output.fault());
    for (const std::string& each : faults) fmt::print(stderr, "autophi run: {}\n", each);
    if (report.stopped_by != 0) return kSignalStatus + report.stopped_by;
    return faults.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    // Other ranks may wait for this one, so the job is aborted without an orderly shutdown.
    std::cout.flush();
    distributed::abort_job(words_of(error) + (job ? situation_of(*job) : ""));
  }
}

const char* run_help() {
  return "autophi run JOB.yaml: runs a job on all processes that mpirun started.\n"
         "\n"
         "  mpirun -n 8 autophi run examples/gpt_train.yaml --report=report.json\n"
         "\n"
         "One process runs the job on a mesh of 1, with the same result.\n"
         "\n"
         "  --mesh=2x2x2         mesh instead of the file's: 2x2x2 (dp, pp, tp), 4 (dp), "
         "dp=2,tp=2\n"
         "  --report=FILE        write each rank's counters, and the losses, as JSON\n"
         "  --metrics=FILE       append a line of JSON for each step\n"
         "  --tensorboard=DIR    write the same numbers to event files; --python=PATH names a "
         "Python\n"
         "                       with the packages autophi and tensorboard\n"
         "  --status_file=FILE   write the number of the current step to this file\n"
         "  --trace=FILE         write a trace of all ranks, for ui.perfetto.dev\n"
         "  --trace_steps=2:3    trace these steps only\n"
         "  --explain[=FILE]     run one step, and explain what its calls do and why, which data "
         "they\n"
         "                       move and their duration; as JSON to a FILE.json\n"
         "  --check=ops          repeat every distributed call in one process, and end the job at "
         "the\n"
         "                       first with another result; --check=numbers: at the first\n"
         "                       number that is not finite\n"
         "  --machine=FILE       predict a step on the machine of this file, which `autophi "
         "calibrate`\n"
         "                       writes, and report it beside what is measured\n"
         "  --device_limit=BYTES end the job if a rank would hold more bytes of tensors on its "
         "device;\n"
         "                       a list has one number per rank\n"
         "  --deadline_s=60      end the job if a rank waits longer than this for another\n"
         "  --resume             resume from the newest checkpoint in the job's checkpoint.dir, on "
         "any mesh\n"
         "  --strict_collectives\n"
         "                       ranks compare every call of a group before it runs\n"
         "  --nodeferred_transfer\n"
         "                       copy what is read from files to each rank immediately and "
         "unsharded,\n"
         "                       instead of its shards when they are known\n"
         "  --tf32               float32 matmuls on GPUs use TF32, with 10 bits of mantissa; as\n"
         "                       run.tf32 in the job\n"
         "  --nographs           launch the steps of a captured job on GPUs kernel by kernel, not "
         "as\n"
         "                       CUDA graphs; as run.graphs: false in the job\n"
         "  --quiet              print errors only, and the text in mode generate\n"
         "  --dry_run --world_size=16384 --rank=R\n"
         "                       without mpirun: simulate this rank of a job of this size for one\n"
         "                       step, and report what it would allocate, compute and send\n"
         "  --v=1                log (2: more, e.g. plans of reshards); --vmodule=FILE=2\n"
         "\n"
         "Flags for tests of failures:\n"
         "  --inject_error=RANK:STEP   the rank (-1: each) throws at this step (1 is the first)\n"
         "  --inject_hang=RANK:STEP    the rank hangs\n";
}

}  // namespace phi::job
