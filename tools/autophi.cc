// The autophi command: runs a subcommand, and reports uncaught errors in one message.
//
//   autophi run JOB.yaml | supervise JOB.yaml | export JOB.yaml | data ... | weights ... | ckpt ... |
//   simulate JOB.yaml | plan JOB.yaml | predict_runs ... | view ... | calibrate | spmd ... | op ... |
//   reshard ... | show ... | schedule ... | --help | --version
#include <fmt/ranges.h>
#include <gflags/gflags.h>
#include <glog/logging.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/library/load_ops.h"
#include "tools/calibrate_command.h"
#include "tools/ckpt_command.h"
#include "tools/cli/command_line.h"
#include "tools/collective_command.h"
#include "tools/data_command.h"
#include "tools/fit/predict_runs_command.h"
#include "tools/job/export_command.h"
#include "tools/job/output/standard_output.h"
#include "tools/job/plan_command.h"
#include "tools/job/run_command.h"
#include "tools/job/simulate_command.h"
#include "tools/op_command.h"
#include "tools/reshard_command.h"
#include "tools/schedule_command.h"
#include "tools/show_command.h"
#include "tools/spmd_command.h"
#include "tools/supervise_command.h"
#include "tools/view_command.h"
#include "tools/weights_command.h"

namespace {

using phi::cli::kUsageStatus;

constexpr const char* kHelp =
    "autophi: auto-parallel tensors on MPI processes.\n"
    "\n"
    "  autophi run JOB.yaml      run a job (under mpirun: on all its processes)\n"
    "  autophi supervise JOB.yaml\n"
    "                            run a job under mpirun, and restart it when it fails\n"
    "  autophi export JOB.yaml   write a step of the job as StableHLO text\n"
    "  autophi simulate JOB.yaml predict a step's time, messages and memory on a machine\n"
    "  autophi plan JOB.yaml     choose the layout of a job for a number of devices\n"
    "  autophi predict_runs      predict measured runs of Megatron-DeepSpeed on a machine\n"
    "  autophi view FILE...      write one HTML page about reports, traces, predictions and plans\n"
    "  autophi calibrate         measure this machine (under mpirun: also its messages)\n"
    "  autophi data ...          write files of token ids, and summarise them\n"
    "  autophi weights ...       convert weights to and from Hugging Face folders, or merge them\n"
    "  autophi ckpt ...          list, verify, compare and merge checkpoints\n"
    "  autophi spmd ...          infer placements by sharding rules, or check the rules\n"
    "  autophi op ...            list operators, and check recorded calls of them\n"
    "  autophi reshard ...       show the steps of a reshard\n"
    "  autophi show ...          draw which rank stores which shard of a tensor\n"
    "  autophi schedule ...      draw and simulate a pipeline schedule\n"
    "  autophi --version\n"
    "\n"
    "Run autophi SUBCOMMAND --help for details.\n";

// Invalid command lines are the same on every rank; one of them prints the message.
int usage_error(const std::string& message) {
  if (phi::cli::prints_for_job()) {
    std::fprintf(stderr, "autophi: %s\n", message.c_str());
  } else {
    // The launcher kills the others when a process exits: the one that prints must be the first.
    std::this_thread::sleep_for(std::chrono::seconds(5));
  }
  return kUsageStatus;
}

int spmd_with_libraries(int argc, char** argv) {
  return spmd_command(argc, argv, [](const std::string& path) { phi::load_ops(path); });
}

int op_with_libraries(int argc, char** argv) {
  return op_command(argc, argv, [](const char* path) { phi::load_ops(path); });
}

// A subcommand that runs in one process (`run` itself and `calibrate` use all).
struct Command {
  std::string_view name;
  int (*run)(int argc, char** argv);
};
constexpr Command kCommands[] = {{"supervise", supervise_command},
                                 {"export", phi::job::export_command},
                                 {"data", data_command},
                                 {"weights", weights_command},
                                 {"ckpt", ckpt_command},
                                 {"spmd", spmd_with_libraries},
                                 {"op", op_with_libraries},
                                 {"reshard", reshard_command},
                                 {"show", show_command},
                                 {"schedule", schedule_command},
                                 {"calibrate", calibrate_command},
                                 {"simulate", phi::job::simulate_command},
                                 {"plan", phi::job::plan_command},
                                 {"predict_runs", phi::fit::predict_runs_command},
                                 {"view", view_command}};

std::vector<std::string> subcommands() {
  std::vector<std::string> names = {"run"};
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

int unknown(const std::string& name) {
  const bool is_flag = name.starts_with('-');
  const std::string hint = phi::cli::did_you_mean(
      name, is_flag ? std::vector<std::string>{"--help", "--version"} : subcommands());
  return usage_error(std::string(is_flag ? "unknown flag '" : "unknown subcommand '") + name + "'" +
                     (hint.empty() ? "; see autophi --help." : hint));
}

int say(const char* text) {
  std::fputs(text, stdout);
  return 0;
}

// Runs a subcommand that uses one process.
int dispatch(int argc, char** argv) {
  if (argc < 2) {
    return usage_error(fmt::format("the subcommand is missing; use one of {}; see autophi --help.",
                                   fmt::join(subcommands(), ", ")));
  }
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h" || name == "help") return say(kHelp);
  if (name == "--version") return say("autophi " AUTOPHI_VERSION "\n");
  if (name == "run") return say(phi::job::run_help());
  const auto command = std::ranges::find(kCommands, name, &Command::name);
  return command != std::end(kCommands) ? command->run(argc - 1, argv + 1)
                                        : unknown(std::string(name));
}

// For a call that printed its result: 0 only if the output was written completely.
int status_after_printing(int status) {
  std::cout.flush();
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "autophi: cannot write to standard output%s%s.\n", errno ? ": " : "",
               errno ? std::strerror(errno) : "");
  return status == 0 ? 1 : status;
}

int call(int argc, char** argv) {
  using phi::cli::CollectiveCommand;
  using phi::cli::prints_for_job;
  const std::string name = argc < 2 ? "" : argv[1];
  if (name == "run" && !phi::cli::has_help_flag(argc - 1, argv + 1)) {
    const phi::job::RunCommandLine line = phi::job::parse_run_command_line(argc - 1, argv + 1);
    const CollectiveCommand joint(&argc, &argv, name, CollectiveCommand::kAll, line.start_deadline);
    return joint.works() ? phi::job::run_command(line) : joint.status();
  }
  if (name == "supervise") {  // starts ranks, but is none
    return prints_for_job() ? status_after_printing(dispatch(argc, argv)) : kUsageStatus;
  }
  const bool is_joint = name == "calibrate" && !phi::cli::has_help_flag(argc - 1, argv + 1);
  const CollectiveCommand joint(&argc, &argv, name == "run" ? "run --help" : name,
                                is_joint ? CollectiveCommand::kAll : CollectiveCommand::kOne);
  return joint.works() ? status_after_printing(dispatch(argc, argv)) : joint.status();
}

}  // namespace

int main(int argc, char** argv) {
  phi::job::prepare_streams();
  FLAGS_logtostderr = true;
  google::InitGoogleLogging(argv[0]);
  try {
    return call(argc, argv);
  } catch (const phi::cli::UsageError& error) {
    return usage_error(error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "autophi %s: %s\n", argc < 2 ? "" : argv[1], error.what());
    return 1;
  }
}
