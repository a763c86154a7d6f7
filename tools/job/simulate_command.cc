// The simulate subcommand.
#include "tools/job/simulate_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/simulation/compare_trace.h"
#include "api/simulation/step_trace.h"
#include "distributed/simulator/find_machine.h"
#include "distributed/simulator/machine_set.h"
#include "tools/cli/command_line.h"
#include "tools/cli/repeated_flags.h"
#include "tools/job/check_plan.h"
#include "tools/job/config/keys/resolved_values.h"
#include "tools/job/config/keys/step_keys.h"
#include "tools/job/dry_run.h"
#include "tools/job/output/atomic_file.h"
#include "tools/job/predict_job.h"
#include "tools/job/run_flags.h"
#include "tools/job/setup.h"

DECLARE_int64(world_size);
DECLARE_string(trace);
DEFINE_string(json, "", "also write the prediction to this file, as JSON");
DEFINE_string(compare, "", "list the worst predicted operators of this trace of autophi run");
DEFINE_string(slow, "", "RANK:FACTOR,..: ranks whose launches take longer");
DEFINE_string(set, "", "KEY=VALUE,..: values of the machine file to replace");

namespace phi::job {
namespace {

constexpr const char* kSimulateHelp =
    "autophi simulate JOB.yaml --machine=FILE [--mesh=dp=2,pp=2] [--world_size=N] [--json=FILE]\n"
    "                 [--trace=FILE] [--compare=FILE] [--slow=RANK:FACTOR,..] "
    "[--set=KEY=VALUE,..]\n"
    "\n"
    "Predicts how long a step of the job takes on a machine, and what each rank computes, sends,\n"
    "waits for and holds. One process plays one rank for all that do the same; nothing is\n"
    "computed. `autophi calibrate` writes the machine file. docs/predict.md says what is "
    "modelled.\n"
    "\n"
    "  --machine=FILE   the machine\n"
    "  --mesh=2x2x2     mesh instead of the file's: 2x2x2 (dp, pp, tp), 4 (dp), dp=2,tp=2\n"
    "  --world_size=N   the number of ranks, if the job has no mesh; otherwise that of the mesh\n"
    "  --json=FILE      also write the prediction to this file, as JSON\n"
    "  --trace=FILE     also write the simulated step to this file, for ui.perfetto.dev\n"
    "  --compare=FILE   list the ten operators that differ most from a trace of the same job,\n"
    "                   which autophi run --trace writes\n"
    "  --slow=77:1.3    launches of rank 77 take 1.3 times as long; 77:1.3,78:2 for several ranks\n"
    "  --set=KEY=VALUE  replace a value of the machine file: --set=links.node.GBps=50,cores=8\n";

int64_t world_size_of(const JobConfig& config) {
  if (FLAGS_world_size != 0) return FLAGS_world_size;
  const MeshConfig mesh = FLAGS_mesh.empty() ? config.mesh : parse_mesh_flag(FLAGS_mesh);
  return mesh.shape.empty() ? 1 : mesh.num_ranks();
}

std::map<int64_t, double> slow_ranks(const std::vector<std::string>& elements, int64_t ranks) {
  std::map<int64_t, double> slow;
  for (const std::string& element : elements) {
    int64_t rank = 0;
    double factor = 0;
    const char* end = element.data() + element.size();
    const auto first = std::from_chars(element.data(), end, rank);
    const bool has_factor = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
    const auto second = std::from_chars(has_factor ? first.ptr + 1 : end, end, factor);
    if (!has_factor || second.ec != std::errc() || second.ptr != end || !std::isfinite(factor) ||
        factor <= 0) {
      throw cli::UsageError(fmt::format(
          "--slow={}: expected RANK:FACTOR with a factor above 0, e.g. 77:1.3.", element));
    }
    if (rank < 0 || rank >= ranks) {
      throw cli::UsageError(
          fmt::format("--slow={}: the job has ranks 0 to {}.", element, ranks - 1));
    }
    if (!slow.emplace(rank, factor).second)
      throw cli::UsageError(fmt::format("--slow={}: rank {} is given twice.", element, rank));
  }
  return slow;
}

std::string worst_operators(const PredictedJob& job, const simulation::MeasuredTrace& measured) {
  constexpr size_t kMost = 10;
  return "worst predicted operators, all ranks in a step:\n" +
         table(measured.worst(job.world.programs, job.step.simulated, kMost));
}

void check_same_job(const JobConfig& config, const simulation::MeasuredTrace& trace) {
  for (const auto& [key, value] : resolved_values(config)) {
    const auto traced = trace.job().find(key);
    if (!changes_steps(key) || (traced != trace.job().end() && traced->second == value)) continue;
    throw cli::UsageError(fmt::format(
        "--compare={}: this is a trace of another job: {} is {}, and {} has {}.", trace.path(), key,
        traced == trace.job().end() ? "missing" : traced->second, config.file, value));
  }
}

void write_trace(const PredictedJob& job, const std::string& path) {
  if (path.empty()) return;
  const simulation::StepTrace trace = simulation::trace_of(job.world.programs, job.step.simulated);
  AtomicFile file(path, "trace");
  file.write(trace.json);
  file.finish();
  std::cout << fmt::format(
      "trace of {} events of {} ranks in {}: open it at "
      "https://ui.perfetto.dev\n",
      trace.events, trace.ranks, path);
}

void write_json(const simulation::Prediction& prediction) {
  if (FLAGS_json.empty()) return;
  AtomicFile file(FLAGS_json, "prediction");
  file.write(json_text(prediction, 2) + "\n");
  file.finish();
}

}  // namespace

int simulate_command(int argc, char** argv) {
  static const std::vector<std::string> flags = {"machine", "mesh",    "world_size", "json",
                                                 "trace",   "compare", "slow",       "set"};
  if (cli::has_help_flag(argc, argv)) {
    std::fputs(kSimulateHelp, stdout);
    return 0;
  }
  const std::vector<std::string> slow = cli::repeated(argc, argv, "slow");
  const std::vector<std::string> changes = cli::elements_of(cli::repeated(argc, argv, "set"));
  const std::vector<std::string> words = cli::parse_flags(argc, argv, flags);
  if (words.size() != 1) {
    throw cli::UsageError(
        fmt::format("autophi simulate expects one job file, got {}; see --help.", words.size()));
  }
  if (FLAGS_machine.empty()) {
    throw cli::UsageError(
        "--machine is missing; pass --machine=FILE, which autophi calibrate writes.");
  }
  const std::string trace = std::exchange(FLAGS_trace, "");  // of the simulated step
  JobConfig config = load_job(words[0]);
  const int64_t steps = config.run.steps;
  const int64_t ranks = world_size_of(config);
  const Setup setup = prepare_dry(std::move(config), ranks);
  check_plan_machine(setup.config, distributed::simulator::find_machine(FLAGS_machine));
  if (!trace.empty()) check_writable(trace, "trace");
  std::optional<simulation::MeasuredTrace> measured;
  if (!FLAGS_compare.empty()) {
    measured = simulation::MeasuredTrace::read(FLAGS_compare);
    check_same_job(setup.config, *measured);
  }
  const distributed::simulator::SimulateOptions options{
      .slow = slow_ranks(cli::elements_of(slow), FLAGS_world_size),
      .keeps_timeline = !trace.empty() || measured};
  const PredictedJob job =
      predict_job(setup, steps,
                  distributed::simulator::read_machine(
                      distributed::simulator::machine_path(FLAGS_machine), changes),
                  options);
  write_json(job.step.prediction);
  for (const std::string& note : setup.absent) std::cout << note << "\n";
  if (!setup.layout_note.empty()) std::cout << setup.layout_note << "\n";
  std::cout << table(job.step.prediction);
  write_trace(job, trace);
  if (measured) std::cout << worst_operators(job, *measured);
  return 0;
}

}  // namespace phi::job
