// The simulate subcommand.
#include "tools/job/simulate_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/cli/command_line.h"
#include "tools/job/dry_run.h"
#include "tools/job/output/atomic_file.h"
#include "tools/job/run_flags.h"
#include "tools/job/setup.h"

DECLARE_int64(world_size);
DEFINE_string(json, "", "also write the prediction to this file, as JSON");

namespace phi::job {
namespace {

constexpr const char* kSimulateHelp =
    "autophi simulate JOB.yaml --machine=FILE [--mesh=dp=2,pp=2] [--world_size=N] [--json=FILE]\n"
    "\n"
    "Predicts how long a step of the job takes on a machine, and what each rank computes, sends,\n"
    "waits for and holds. One process plays all ranks; nothing is computed. `autophi calibrate`\n"
    "writes the machine file. docs/predict.md says what is modelled.\n"
    "\n"
    "  --machine=FILE   the machine\n"
    "  --mesh=2x2x2     mesh instead of the file's: 2x2x2 (dp, pp, tp), 4 (dp), dp=2,tp=2\n"
    "  --world_size=N   the number of ranks, if the job has no mesh; otherwise that of the mesh\n"
    "  --json=FILE      also write the prediction to this file, as JSON\n";

int64_t world_size_of(const JobConfig& config) {
  if (FLAGS_world_size != 0) return FLAGS_world_size;
  const MeshConfig mesh = FLAGS_mesh.empty() ? config.mesh : parse_mesh_flag(FLAGS_mesh);
  return mesh.shape.empty() ? 1 : mesh.num_ranks();
}

// Prepares the job as for a dry run, which predicts it.
simulation::Prediction predicted_step(const std::string& file) {
  JobConfig config = load_job(file);
  FLAGS_world_size = world_size_of(config);
  FLAGS_dry_run = true;
  FLAGS_rank = 0;
  return *prepare(std::move(config)).predicted;
}

void write_json(const simulation::Prediction& prediction) {
  if (FLAGS_json.empty()) return;
  AtomicFile file(FLAGS_json, "prediction");
  file.write(to_json(prediction).dump(2) + "\n");
  file.finish();
}

}  // namespace

int simulate_command(int argc, char** argv) {
  static const std::vector<std::string> flags = {"machine", "mesh", "world_size", "json"};
  if (cli::has_help_flag(argc, argv)) {
    std::fputs(kSimulateHelp, stdout);
    return 0;
  }
  const std::vector<std::string> words = cli::parse_flags(argc, argv, flags);
  if (words.size() != 1) {
    throw cli::UsageError(
        fmt::format("autophi simulate expects one job file, got {}; see --help.", words.size()));
  }
  if (FLAGS_machine.empty()) {
    throw cli::UsageError(
        "--machine is missing; pass --machine=FILE, which autophi calibrate writes.");
  }
  const simulation::Prediction prediction = predicted_step(words[0]);
  write_json(prediction);
  std::cout << table(prediction);
  return 0;
}

}  // namespace phi::job
