// The plan subcommand.
#include "tools/job/plan_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/planning/plan.h"
#include "api/planning/plan_text.h"
#include "distributed/simulator/find_machine.h"
#include "distributed/supervise/mpirun.h"
#include "phi/common/errors.h"
#include "phi/common/readable_numbers.h"
#include "tools/cli/command_line.h"
#include "tools/cli/repeated_flags.h"
#include "tools/job/config/placement_rows.h"
#include "tools/job/config/read_layout.h"
#include "tools/job/config/section.h"
#include "tools/job/dry_run.h"
#include "tools/job/measure_plans.h"
#include "tools/job/output/atomic_file.h"
#include "tools/job/plan_subject_of.h"
#include "tools/job/planned_job_text.h"
#include "tools/job/run_flags.h"
#include "tools/job/setup.h"

DECLARE_string(json);
DECLARE_string(explain);
DEFINE_int64(devices, 0, "number of devices, one for each rank");
DEFINE_string(memory, "", "bytes of a device that tensors can have: 80GB, 24GiB");
DEFINE_string(fix, "", "KEY=VALUE,..: values of the layout that are not chosen");
DEFINE_string(pin, "", "PATTERN={DIM: PLACEMENT}: where parameters lie; may be repeated");
DEFINE_int64(top, 10, "number of plans to print");
DEFINE_string(measure, "", "K: run the first K plans for a few steps each on this machine");
DEFINE_double(time_limit_s, 0, "return the best plan after this many seconds; 0: no limit");

namespace phi::job {
namespace {

constexpr size_t kMeasuredByDefault = 3;

constexpr const char* kPlanHelp =
    "autophi plan JOB.yaml --devices=N --machine=FILE [--out=FILE] [--json=FILE] [--explain]\n"
    "             [--memory=BYTES] [--fix=KEY=VALUE,..] [--pin=ROW] [--placements=searched]\n"
    "             [--top=10] [--time_limit_s=S]\n"
    "             [--measure[=3]] [--mpirun=mpirun] [--mpirun_args=WORDS]\n"
    "\n"
    "Chooses the mesh, pipeline schedule, micro-batches, ZeRO stage, recomputation and sequence\n"
    "parallelism of a training job, so that its step is short and every rank has enough memory.\n"
    "Each plan that it prints was recorded and simulated as a whole. docs/plan.md says how.\n"
    "\n"
    "  --devices=N      ranks of the job, one device each\n"
    "  --machine=FILE   the machine, as for autophi simulate\n"
    "  --memory=BYTES   of a device, for tensors: 80GB, 24GiB; by default that of the machine\n"
    "  --fix=tp=8       a value that is not chosen; several as a list, or by several flags. Keys:\n"
    "                   dp, pp, tp, schedule, chunks, micro_batches, zero_stage,\n"
    "                   sequence_parallel, recompute, mesh_order\n"
    "  --pin='head.weight={tp: R}'\n"
    "                   placements of parameters, by pattern, as a row of `placements`; may be\n"
    "                   repeated\n"
    "  --placements=searched\n"
    "                   also simulate each plan with tp > 1 with the best placements inside\n"
    "                   layers, and use them if the plan fits and is faster; default: declared\n"
    "  --explain        the best plan with another value of each key, and what it costs; where\n"
    "                   parameters lie along tp, and why\n"
    "  --top=K          number of plans to print\n"
    "  --time_limit_s=S return the best plan so far after S seconds\n"
    "  --measure[=3]    run the first 3 plans for a few steps each on this machine, under mpirun,\n"
    "                   and order them by what is measured\n"
    "  --mpirun=mpirun --mpirun_args=\"--hostfile hosts\"\n"
    "                   the launcher of --measure, and more arguments for it\n"
    "  --out=FILE       write the job with the layout of the first plan\n"
    "  --json=FILE      also write the plans to this file, as JSON\n";

int64_t memory_of_flag() {
  if (FLAGS_memory.empty()) return 0;
  const auto bytes = parse_bytes(FLAGS_memory);
  if (!bytes || *bytes <= 0) {
    throw cli::UsageError(fmt::format(
        "--memory={}: expected a number of bytes above 0, such as 80GB or 24GiB.", FLAGS_memory));
  }
  return *bytes;
}

// The job with the pinned rows, on a mesh of one rank with all dims that a plan may have.
JobConfig job_to_plan(const std::string& file, const std::vector<std::string>& pins) {
  JobConfig config = load_job(file);
  check_is_planned(config);
  config.mesh = {{1, 1, 1}, {"dp", "pp", "tp"}};
  config.pipeline.cut.clear();
  config.plan = {};
  for (const std::string& pin : pins) add_row_of_flag("--pin", pin, &config);
  return config;
}

void check_flags(const std::vector<std::string>& words) {
  if (words.size() != 1) {
    throw cli::UsageError(
        fmt::format("autophi plan expects one job file, got {}; see --help.", words.size()));
  }
  if (FLAGS_devices < 1) {
    throw cli::UsageError(fmt::format(
        "--devices is {}; pass --devices=N, the number of ranks.",
        gflags::GetCommandLineFlagInfoOrDie("devices").is_default ? "missing" : "below 1"));
  }
  if (FLAGS_machine.empty())
    throw cli::UsageError(
        "--machine is missing; pass --machine=FILE, which autophi calibrate writes.");
  if (FLAGS_top < 1)
    throw cli::UsageError(fmt::format("--top={}: pass the number of plans, 1 or more.", FLAGS_top));
}

bool searches_placements() {
  if (FLAGS_placements == "searched") return true;
  if (FLAGS_placements.empty() || FLAGS_placements == "declared") return false;
  throw cli::UsageError(
      fmt::format("--placements={}: pass declared or searched.", FLAGS_placements));
}

// Refuses to start processes that would exhaust this machine.
void check_can_start() {
  constexpr int64_t kMostPerCore = 16;
  const auto cores = static_cast<int64_t>(std::thread::hardware_concurrency());
  if (!FLAGS_mpirun_args.empty() || FLAGS_devices <= kMostPerCore * std::max<int64_t>(1, cores))
    return;
  throw cli::UsageError(fmt::format(
      "--measure: {} processes are too many for this machine with {} cores ({} for each at most). "
      "Name the machines with --mpirun_args=\"--hostfile hosts\", or plan without --measure.",
      with_separators(FLAGS_devices), cores, kMostPerCore));
}

// The number of plans to measure; 0 without --measure.
size_t number_to_measure() {
  if (FLAGS_measure.empty()) {
    cli::check_flags_are_read(
        {{{"mpirun", false, "--measure"}, {"mpirun_args", false, "--measure"}}});
    return 0;
  }
  if (std::getenv(distributed::supervise::kOpenMpiRank) != nullptr)
    throw cli::UsageError("--measure starts mpirun itself; start autophi plan without it.");
  check_can_start();
  if (FLAGS_measure == cli::kNoValue) return kMeasuredByDefault;
  size_t count = 0;
  const char* end = FLAGS_measure.data() + FLAGS_measure.size();
  const auto read = std::from_chars(FLAGS_measure.data(), end, count);
  if (read.ec != std::errc() || read.ptr != end || count == 0) {
    throw cli::UsageError(
        fmt::format("--measure={}: pass the number of plans to run, 1 or more.", FLAGS_measure));
  }
  return count;
}

// Whether the prediction decides which plan is the fastest.
std::string undecided_text(const planning::PlanResult& result, double error) {
  const size_t count = planning::undecided(result, error);
  if (count < 2) return "";
  const size_t most = std::min<size_t>(count, kMeasuredByDefault);
  return fmt::format(
      "the first {} plans differ by less than the error of predictions ({:.3g} %): --measure={} "
      "runs the first {} on this machine\n",
      count, 100 * error, most, most);
}

std::string late_text(const planning::PlanResult& result) {
  if (result.is_complete) return "";
  if (result.bound == 0)
    return "the time limit ended the search: of the layouts that were played, not all of the best "
           "were simulated\n";
  return fmt::format(
      "the time limit ended the search: a layout that was not played may be faster, "
      "and takes at least {:.4g} s\n",
      result.bound);
}

std::string summary(const planning::PlanResult& result, const std::string& job,
                    const std::string& machine, double seconds) {
  return fmt::format(
      "{} on {} x {}: planned in {:.{}f} s: {} layouts, {} possible, {} played, "
      "{} simulated\n{}",
      job, with_separators(FLAGS_devices), machine, seconds, seconds < 10 ? 1 : 0,
      with_separators(static_cast<int64_t>(result.layouts)),
      with_separators(static_cast<int64_t>(result.possible)),
      with_separators(static_cast<int64_t>(result.estimated)), result.simulated, late_text(result));
}

std::string rows_text(const nn::Layout& rows) {
  return fmt::format("searched placements of the first plan:\n{}\n", to_yaml(rows));
}

void measure(const PlannedJob& job, size_t count, planning::PlanResult* result) {
  std::cout << fmt::format("running {} with {} process{} each ..\n",
                           count == 1 ? "the first plan"
                                      : fmt::format("the first {} plans",
                                                    std::min(count, result->plans.size())),
                           FLAGS_devices, FLAGS_devices == 1 ? "" : "es")
            << std::flush;
  std::cout << table(measure_plans(
      job, FLAGS_devices, count,
      distributed::supervise::mpirun_options(FLAGS_mpirun, FLAGS_mpirun_args), &result->plans));
}

void write_json(const planning::PlanResult& result,
                const std::vector<planning::RuleOfThumb>& rules) {
  if (FLAGS_json.empty()) return;
  AtomicFile file(FLAGS_json, "plans");
  file.write(to_json(result, rules).dump(2) + "\n");
  file.finish();
}

void write_job(const PlannedJob& job, const planning::PlannedLayout& best,
               const distributed::simulator::MachineModel& machine) {
  if (FLAGS_out.empty()) return;
  AtomicFile file(FLAGS_out, "planned job");
  file.write(planned_job_text(job, best, machine, FLAGS_machine));
  file.finish();
  std::cout << fmt::format("planned job written to {}: run it with {} processes\n", FLAGS_out,
                           FLAGS_devices);
}

}  // namespace

int plan_command(int argc, char** argv) {
  static const std::vector<std::string> flags = {
      "devices", "machine", "memory",  "fix",          "pin",     "placements", "top",
      "out",     "json",    "explain", "time_limit_s", "measure", "mpirun",     "mpirun_args"};
  if (cli::has_help_flag(argc, argv)) {
    std::fputs(kPlanHelp, stdout);
    return 0;
  }
  const std::vector<std::string> fixed = cli::elements_of(cli::repeated(argc, argv, "fix"));
  const std::vector<std::string> with_optional_value = {"explain", "measure"};
  const std::vector<std::string> words = cli::parse_flags(argc, argv, flags, with_optional_value);
  check_flags(words);
  const size_t to_measure = number_to_measure();
  const bool searches = searches_placements();
  const bool explains = !std::exchange(FLAGS_explain, "").empty();
  const auto start = std::chrono::steady_clock::now();
  const distributed::simulator::MachineModel machine =
      distributed::simulator::find_machine(FLAGS_machine);
  JobConfig config = job_to_plan(words[0], cli::repeated(argc, argv, "pin"));
  const int64_t steps = config.run.steps;
  const Setup setup = prepare_dry(std::move(config), /*world_size=*/1);
  for (const std::string& note : setup.absent) std::cout << note << "\n";
  const PlannedJob job(setup, FLAGS_devices, fixed, steps, machine);
  planning::Planner planner(job, machine,
                            {.memory_bytes = memory_of_flag(),
                             .finalists = std::max(static_cast<size_t>(FLAGS_top), to_measure),
                             .time_limit_s = FLAGS_time_limit_s,
                             .searches_placements = searches});
  planning::PlanResult result = planner.plan();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (result.plans.empty()) {
    throw errors::InvalidArgument("{}: {}", words[0], fault(result, planner.memory_bytes()));
  }
  const planning::PlannedLayout best = result.plans.front();
  std::cout << summary(result, words[0], FLAGS_machine, taken.count())
            << table(result, planner.memory_bytes(), static_cast<size_t>(FLAGS_top));
  const std::vector<planning::RuleOfThumb> rules = planner.rules_of_thumb();
  std::cout << table(rules, best);
  if (explains) {
    std::cout << table(planner.alternatives_to(best), best);
    if (best.layout.tp > 1) std::cout << table(job.explain(best.layout));
    if (best.layout.has_searched_placements) std::cout << rows_text(job.searched_rows(best.layout));
  }
  if (to_measure > 0) {
    measure(job, to_measure, &result);
  } else {
    std::cout << undecided_text(result, machine.prediction_error);
  }
  write_json(result, rules);
  write_job(job, result.plans.front(), machine);
  return 0;
}

}  // namespace phi::job
