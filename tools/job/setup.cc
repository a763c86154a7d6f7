// Finds errors before any rank waits for another.
#include "tools/job/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <vector>

#include "api/dtensor/gpu_of_rank.h"
#include "api/library/load_ops.h"
#include "api/nn/layers/mlp.h"
#include "api/nn/models/described_model.h"
#include "distributed/api.h"
#include "distributed/simulator/find_machine.h"
#include "phi/common/errors.h"
#include "phi/memory/io/async_file.h"
#include "tools/cli/command_line.h"
#include "tools/job/build.h"
#include "tools/job/check_placements.h"
#include "tools/job/check_plan.h"
#include "tools/job/config/job_paths.h"
#include "tools/job/config/keys/job_keys.h"
#include "tools/job/device_limit.h"
#include "tools/job/explained_step.h"
#include "tools/job/fingerprint.h"
#include "tools/job/open_data.h"
#include "tools/job/output/atomic_file.h"
#include "tools/job/output/metrics.h"
#include "tools/job/output/tensorboard.h"
#include "tools/job/predict_job.h"
#include "tools/job/run_flags.h"

DECLARE_int64(world_size);

namespace phi::job {

using distributed::World;
using distributed::checkpoint::Checkpoint;

namespace {

enum class Purpose : uint8_t { kRun, kPrediction };

std::optional<Checkpoint> open_weights(const JobConfig& config) {
  if (config.weights.empty()) return std::nullopt;
  try {
    return nn::models::open_described(config.weights, config.model.row(), config.model.values);
  } catch (const Error& error) {
    throw config.wrong({"weights"}, error.what());
  }
}

// A prediction checks the weights of its job against the model, and does not load them.
void check_weights_if_present(Setup* setup) {
  const std::string& folder = setup->config.weights;
  if (folder.empty()) return;
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored)) {
    open_weights(setup->config);
  } else {
    setup->absent.push_back(
        fmt::format("predicted without weights, which are not read: there is no '{}'.", folder));
  }
}

// Loads the operators that the model may name.
void load_operators(const JobConfig& config) {
  try {
    for (const std::string& library : config.ops) load_ops(library_path(config, library));
  } catch (const Error& error) {
    throw config.wrong({"ops"}, error.what());
  }
  if (!config.model.values.has("activation")) return;
  try {
    nn::activation_named(config.model.values.text("activation"));
  } catch (const Error& error) {
    throw config.wrong({"model.activation"}, error.what());
  }
}

// Constructs the model, whose parameters are deferred, to find what its kind refuses.
void check_model(const JobConfig& config) {
  try {
    config.model.row().make(config.model.values);
  } catch (const Error& error) {
    throw config.wrong({"model"}, error.what());
  }
}

// A flag that sets a key is refused if the job does not read the key.
void check_reads(const JobConfig& config, const char* key, const char* flag) {
  const std::optional<KeyCondition> missing = unmet_condition(config, key);
  if (!missing) return;
  throw cli::UsageError(fmt::format("{} requires {}, and {} has {}; remove the flag.", flag,
                                    missing->wanted, config.file, missing->instead(config)));
}

void apply_gpu_flags(JobConfig* config) {
  if (FLAGS_tf32) {
    check_reads(*config, "run.tf32", "--tf32");
    config->run.tf32 = true;
  }
  if (!FLAGS_graphs) {
    check_reads(*config, "run.graphs", "--nographs");
    config->run.graphs = false;
  }
}

// Checks for a GPU. Ranks are connected later, when all have passed (connect_ranks).
void settle_place(const JobConfig& config) {
  if (config.place == "cpu") return World::current().rank_context().set_place(CPUPlace());
  try {
    World& world = World::current();
    world.rank_context().set_place(distributed::gpu_of_rank(world));
    world.rank_context().set_tf32(config.run.tf32);
  } catch (const Error& error) {
    throw config.wrong({"place"}, error.what());
  }
}

// Settles the mesh, and in a dry run what differs from a real run.
void settle_world(Setup* setup) {
  setup->dry = dry_run_of_flags();
  const int64_t ranks = setup->dry ? setup->dry->world_size : distributed::world_size();
  check_plan(setup->config, ranks);
  if (setup->dry) {
    adjust_for_dry_run(*setup->dry, FLAGS_mesh, &setup->config);
  } else {
    settle_place(setup->config);
  }
  resolve_mesh(&setup->config, ranks, FLAGS_mesh, &setup->note);
  if (setup->dry) {
    setup->note = fmt::format("dry run of rank {} of {}: one step, nothing is computed",
                              setup->dry->rank, setup->dry->world_size);
  }
  setup->layout_note = note_changed_layout(&setup->config);
}

// Each rank creates its swap file in this folder in the first step.
void check_disk(const JobConfig& config) {
  const std::string& disk = config.memory.disk;
  if (!config.memory.is_limited() || disk.empty()) return;
  std::error_code ignored;
  if (!std::filesystem::is_directory(disk, ignored)) {
    throw config.wrong(
        {"memory.disk"},
        fmt::format("'{}' is not a folder; set a folder for the swap file of each process.", disk));
  }
  try {
    memory::AsyncFile::create_temporary(disk, {});
  } catch (const Error& error) {
    throw config.wrong({"memory.disk"}, error.what());
  }
}

// The limit of this rank, in every mode of a real run.
void set_device_limit(Setup* setup) {
  setup->device_limit = device_limit_of(distributed::rank(), distributed::world_size());
  if (setup->device_limit && setup->config.memory.is_limited()) {
    throw cli::UsageError(
        fmt::format("--device_limit and memory.device of {} both limit the device; drop one. With "
                    "memory.device the job swaps what does not fit.",
                    setup->config.file));
  }
}

// Predicts the job on rank 0, and times the transfers of each rank, on the machine of --machine.
void use_machine(int64_t steps, Setup* setup) {
  const auto machine = std::make_shared<const distributed::simulator::MachineModel>(
      distributed::simulator::find_machine(FLAGS_machine));
  check_plan_machine(setup->config, *machine);
  if (distributed::rank() == 0)
    setup->predicted = predict_job(*setup, steps, *machine).step.prediction;
  setup->config.memory.machine = machine;
}

void check_traced_steps(const Setup& setup) {
  if (FLAGS_trace_steps.empty()) return;
  const JobConfig& config = setup.config;
  const int64_t steps = config.mode == "generate" ? config.generate.tokens : config.run.steps;
  if (setup.traced_steps.first > steps) {
    throw cli::UsageError(fmt::format("--trace_steps={}: the job has {} step{}.", FLAGS_trace_steps,
                                      steps, steps == 1 ? "" : "s"));
  }
}

// The first rank with a fault prints it. Returns false if there is one.
bool all_are_right(World& world, const std::string& fault) {
  const int64_t failed = fault.empty() ? 0 : 1;
  std::vector<int64_t> all(static_cast<size_t>(world.size()));
  world.everyone().all_gather(&failed, all.data(), 1, DataType::INT64);
  const auto first = std::ranges::find(all, 1);
  if (first - all.begin() == world.rank()) std::cerr << "autophi run: " << fault << "\n";
  return first == all.end();
}

Setup prepare_for(Purpose purpose, JobConfig config) {
  Setup setup;
  setup.injections = {parse_injection("inject_error", FLAGS_inject_error),
                      parse_injection("inject_hang", FLAGS_inject_hang)};
  setup.traced_steps = parse_traced_steps(FLAGS_trace_steps);
  setup.config = std::move(config);
  const bool generates = setup.config.mode == "generate";
  check_run_flags(generates);
  apply_gpu_flags(&setup.config);
  if (!FLAGS_explain.empty()) adjust_for_explain(FLAGS_dry_run, &setup.config);
  if (!FLAGS_check.empty()) adjust_for_check(&setup.config);
  if (FLAGS_resume && setup.config.checkpoint.dir.empty()) {
    throw cli::UsageError(
        fmt::format("--resume continues from a checkpoint, and {} sets no checkpoint folder; set "
                    "checkpoint.dir.",
                    setup.config.file));
  }
  load_operators(setup.config);
  const int64_t steps = setup.config.run.steps;
  settle_world(&setup);
  check_model(setup.config);
  check_placements(setup.config);
  if (generates) {
    adjust_for_generate(&setup.config);
  } else if (purpose == Purpose::kPrediction) {
    setup.data = open_data_if_present(setup.config, &setup.absent);
  } else {
    setup.data = open_data(setup.config);
  }
  if (purpose == Purpose::kPrediction) {
    check_weights_if_present(&setup);
  } else {
    setup.weights = open_weights(setup.config);
  }
  check_traced_steps(setup);
  if (!setup.dry) {
    check_disk(setup.config);
    set_device_limit(&setup);
  }
  if (purpose == Purpose::kRun && !FLAGS_machine.empty()) use_machine(steps, &setup);
  if (distributed::rank() == 0) {
    if (!FLAGS_report.empty()) check_writable(FLAGS_report, "report");
    if (!FLAGS_explain.empty() && FLAGS_explain != cli::kNoValue) {
      check_writable(FLAGS_explain, "explanation");
    }
    if (!FLAGS_trace.empty()) check_writable(FLAGS_trace, "trace");
    if (!FLAGS_metrics.empty()) check_appendable(FLAGS_metrics, "metrics");
    if (!FLAGS_tensorboard.empty()) check_tensorboard(FLAGS_tensorboard);
  }
  return setup;
}

}  // namespace

Setup prepare(const std::string& job_file) { return prepare(load_job(job_file)); }

Setup prepare(JobConfig config) { return prepare_for(Purpose::kRun, std::move(config)); }

Setup prepare_dry(JobConfig config, int64_t world_size) {
  FLAGS_world_size = world_size;
  FLAGS_dry_run = true;
  FLAGS_rank = 0;
  return prepare_for(Purpose::kPrediction, std::move(config));
}

bool check_consistency(World& world, std::optional<Setup>* setup, std::string fault) {
  distributed::ConfigEntries entries;
  try {
    if (*setup && !(*setup)->dry) entries = fingerprint(**setup);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kResourceExhausted) throw;
    fault = error.what();  // a file has changed since it was opened
  }
  if (!all_are_right(world, fault)) return false;
  try {
    distributed::check_config_consistency(world, entries);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    if (world.rank() == 0) std::cerr << "autophi run: " << error.what() << "\n";
    return false;
  }
  (*setup)->entries = std::move(entries);
  return true;
}

void connect_ranks(const JobConfig& config) {
  if (config.place == "cpu") return;
  distributed::use_gpu({.tf32 = config.run.tf32,
                        .messages = distributed::parse_gpu_messages(config.run.messages),
                        .reduction = distributed::parse_gpu_reduction(config.run.reduction)});
  World::current().rank_context().counters() = {};  // connecting GPUs does not count
}

void apply_world_flags(World& world) {
  world.rank_context().counters() = {};  // the consistency check does not count
  world.rank_context().set_deferred_transfer(FLAGS_deferred_transfer);
  world.set_strict_collectives(FLAGS_strict_collectives);
  world.set_deadline(World::Milliseconds(static_cast<int64_t>(FLAGS_deadline_s * 1000)));
}

}  // namespace phi::job
