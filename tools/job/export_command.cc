// The export subcommand.
#include "tools/job/export_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <utility>

#include "tools/cli/command_line.h"
#include "tools/job/build.h"
#include "tools/job/check_placements.h"
#include "tools/job/config/config.h"
#include "tools/job/dry_run.h"
#include "tools/job/export_step.h"
#include "tools/job/output/atomic_file.h"

DEFINE_string(mode, "", "forward or train, instead of the job's mode");

namespace phi::job {
namespace {

constexpr const char* kHelp =
    "autophi export JOB.yaml [--mode=forward|train] [--mesh=dp=2,tp=2] [--out=FILE]\n"
    "\n"
    "Writes a step of the job as StableHLO text with Shardy meshes and shardings: all "
    "micro-batches\n"
    "and, in mode train, the backward pass and the optimizer's update. One process exports a\n"
    "mesh of any size; no tensor data is allocated. docs/stablehlo.md describes how to run the "
    "text.\n";

JobConfig settled_job(const std::string& file) {
  JobConfig config = load_job(file);
  if (!FLAGS_mode.empty()) config.mode = FLAGS_mode;
  if (config.mode != "forward" && config.mode != "train") {
    throw cli::UsageError(fmt::format(
        "a step of mode forward or train can be exported, not of mode '{}'; pass --mode.",
        config.mode));
  }
  const MeshConfig mesh = FLAGS_mesh.empty() ? config.mesh : parse_mesh_flag(FLAGS_mesh);
  std::string note;
  resolve_mesh(&config, mesh.shape.empty() ? 1 : mesh.num_ranks(), FLAGS_mesh, &note);
  // These keys do not change what a step computes.
  config.run.capture = false;
  config.memory = {};
  check_placements(config);
  return config;
}

std::string exported(const JobConfig& config) {
  const distributed::ProcessMesh mesh(config.mesh.shape, config.mesh.dims);
  std::optional<DryRank> played(std::in_place, DryRun{config.mesh.num_ranks(), /*rank=*/0});
  const auto model = build_model(config, mesh, /*weights=*/nullptr);
  training::TrainStep step(*model, config.model.row().loss, trainer_options(config));
  step.fix_draws();
  const Program program = capture([&](const TensorList& inputs) { return step.run(inputs); },
                                  placeholder_inputs(config, step));
  played.reset();  // constants have values again
  return export_step(config, step, program);
}

void write(const std::string& text) {
  if (FLAGS_out.empty()) {
    std::cout << text;  // main checks whether it was written
    return;
  }
  AtomicFile file(FLAGS_out, "step");
  file.write(text);
  file.finish();
}

}  // namespace

int export_command(int argc, char** argv) {
  static const std::vector<std::string> flags = {"mode", "out", "mesh"};
  if (cli::has_help_flag(argc, argv)) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  const std::vector<std::string> words = cli::parse_flags(argc, argv, flags);
  if (words.size() != 1) {
    throw cli::UsageError(
        fmt::format("autophi export expects one job file, got {}; see --help.", words.size()));
  }
  write(exported(settled_job(words[0])));
  return 0;
}

}  // namespace phi::job
